/// The parameters of a verb with `encoding:`. In a dictionary or an array what is no plain text or number is
/// encoded, too: as parameters these are written as they are.
///
/// Only our own serializers are given one: others get the value itself.
struct EncodedParameters {
    let value: any Encodable

    /// The parameters as `serializer` takes them.
    static func parameters(_ parameters: Any?, for serializer: some RequestSerializer) -> Any? {
        guard let encoded = parameters as? EncodedParameters else { return parameters }
        return serializer is any EncodedParametersTaking ? encoded : encoded.value
    }

    /// The value of `parameters`, for a closure or a message of the caller's.
    static func unwrapped(_ parameters: Any) -> Any {
        (parameters as? EncodedParameters)?.value ?? parameters
    }
}

/// A serializer that knows ``EncodedParameters``.
protocol EncodedParametersTaking {}
