public import Foundation

/// Parameters as a JSON body.
///
/// | Parameters                                                  | Written by                                     |
/// |-------------------------------------------------------------|------------------------------------------------|
/// | dictionaries and arrays of text, numbers, `Bool` and nulls  | `JSONSerialization`, with ``writingOptions``   |
/// | anything else that is `Encodable`                           | the encoder that ``makeEncoder`` makes         |
///
/// Anything else is a ``RequestSerializationError/invalidJSON(at:found:)``, never a trap: a `Date` among
/// plain values, a number that is not finite, a key that is no `String`, text or a number by itself. The
/// limit for levels, 512, is that of Foundation's parser. In what an `Encodable` value encodes, a number that
/// is not finite is an `EncodingError` of the encoder. So is a `Date` outside of the years 1 to 9999 when the
/// encoder's strategy is `.iso8601`, which would write another date for it.
public struct JSONRequestSerializer: BodyRequestSerializer, EncodedParametersTaking {
    /// The settings and fields that all serializers have.
    public var base = HTTPRequestSerializer()

    /// The options of `JSONSerialization`; an encoder has these besides its own. With `.fragmentsAllowed` the
    /// parameters need not be a dictionary or an array.
    public var writingOptions: JSONSerialization.WritingOptions

    /// Makes an encoder for one body: encoders are objects, and a serializer has none of its own. `nil`, as
    /// it is unless set, makes one without settings.
    public var makeEncoder: (@Sendable () -> JSONEncoder)?

    /// `application/json`, without a charset as in AFNetworking since 2.5: JSON is UTF-8.
    public var contentType: String { "application/json" }

    /// A serializer with the fields that every ``HTTPRequestSerializer`` has.
    public init(writingOptions: JSONSerialization.WritingOptions = []) {
        self.writingOptions = writingOptions
    }

    /// The parameters as JSON.
    ///
    /// An `Encodable` value is asked twice for what it encodes: first only to see how deep it is, since an
    /// encoder of Foundation has no limit but the stack, and whether the encoder can write its dates.
    ///
    /// - Throws: ``RequestSerializationError/invalidJSON(at:found:)``,
    ///   ``RequestSerializationError/parametersTooDeep(limit:)``, and what an `Encodable` value or its
    ///   encoder throws.
    public func body(of parameters: Any) throws -> Data {
        let isEncoded = parameters is EncodedParameters
        let parameters = EncodedParameters.unwrapped(parameters)
        do {
            let tree = try PlainTree(format: .json).plain(parameters)
            guard writingOptions.contains(.fragmentsAllowed) || tree is [String: Any] || tree is [Any] else {
                throw fragment(type(of: parameters))
            }
            return try JSONSerialization.data(withJSONObject: tree, options: writingOptions)
        } catch let problem as PlainTree.Problem {
            guard !problem.isTooDeep else {
                throw RequestSerializationError.parametersTooDeep(limit: ParameterShape.depthLimit)
            }
            guard problem.isTypeUnknown || isEncoded, let value = parameters as? any Encodable else {
                throw RequestSerializationError.invalidJSON(at: problem.path, found: problem.found)
            }
            return try encode(value)
        }
    }

    // MARK: - Private

    private func encode(_ value: some Encodable) throws -> Data {
        let encoder = makeEncoder?() ?? JSONEncoder()
        encoder.outputFormatting.formUnion(JSONEncoder.OutputFormatting(writingOptions))
        // The other strategies write numbers, for which the encoder throws, or are the caller's.
        var dates = DateSpan.all
        if case .iso8601 = encoder.dateEncodingStrategy { dates = .fourDigitYears }
        try ParameterEncoder.check(value, dates: dates, userInfo: encoder.userInfo)
        let data = try encoder.encode(value)
        let isContainer = data.first == UInt8(ascii: "{") || data.first == UInt8(ascii: "[")
        guard isContainer || writingOptions.contains(.fragmentsAllowed) else {
            throw fragment(type(of: value))
        }
        return data
    }

    private func fragment(_ type: Any.Type) -> RequestSerializationError {
        .invalidJSON(at: "", found: "a value of type \(type) by itself")
    }
}

extension JSONEncoder.OutputFormatting {
    fileprivate init(_ options: JSONSerialization.WritingOptions) {
        self = []
        if options.contains(.prettyPrinted) { insert(.prettyPrinted) }
        if options.contains(.sortedKeys) { insert(.sortedKeys) }
        if options.contains(.withoutEscapingSlashes) { insert(.withoutEscapingSlashes) }
    }
}
