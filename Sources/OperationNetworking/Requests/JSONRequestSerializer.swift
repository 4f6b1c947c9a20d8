public import Foundation

/// Encodes parameters as a JSON body.
///
/// Accepts the same values as ``QueryString``: text (including `URL`, `Substring` and `Character`), numbers
/// (including `CGFloat` and `Decimal`), `Bool`, nulls, raw values, other `Encodable` values, and
/// dictionaries, arrays and sets of these. Numbers stay numbers, and `Bool` stays `Bool`. A set becomes an
/// array, sorted by its elements' texts, and a key becomes its text.
///
/// `JSONSerialization` writes the body, with ``writingOptions``. If it contains a `Date`, `Data` or another
/// `Encodable` value, the encoder of ``makeEncoder`` writes it, with its strategies for dates and keys; the
/// keys of dictionaries are kept.
///
/// Anything else throws ``RequestSerializationError/invalidJSON(at:found:)``, and never traps: an object
/// without a custom description, a number that is not finite unless the encoder has a strategy for it, or a
/// top-level text or number. Nesting is limited to 512 levels, as in Foundation's parser. If an `Encodable`
/// value encodes a number that is not finite, the encoder throws an `EncodingError`. A `Date` outside of the
/// years 1 to 9999 is an error if the encoder's strategy is `.iso8601`, which would write another date.
public struct JSONRequestSerializer: BodyRequestSerializer, EncodedParametersTaking, Codable {
    /// The settings and fields that all serializers share.
    public var base = HTTPRequestSerializer()

    /// The options of `JSONSerialization`, also added to an encoder's own. With `.fragmentsAllowed`, the
    /// parameters need not be a dictionary or an array.
    public var writingOptions: JSONSerialization.WritingOptions {
        get { options.value }
        set { options.value = newValue }
    }
    private var options: RawCoded<JSONSerialization.WritingOptions>

    /// Creates the encoder for one body. `nil` (the default) uses an encoder with default settings. A
    /// serializer with this closure cannot be encoded.
    public var makeEncoder: (@Sendable () -> JSONEncoder)? {
        get { makeEncoderClosure?.closure }
        set { makeEncoderClosure = newValue.map { UncodableClosure($0) } }
    }
    private var makeEncoderClosure: UncodableClosure<@Sendable () -> JSONEncoder>?

    /// `application/json`, without a charset as in AFNetworking since 2.5: JSON is UTF-8.
    public var contentType: String { "application/json" }

    /// Creates a serializer with the default fields of ``HTTPRequestSerializer``.
    public init(writingOptions: JSONSerialization.WritingOptions = []) {
        options = RawCoded(writingOptions)
    }

    /// Returns the parameters as JSON.
    ///
    /// An `Encodable` value is encoded twice: first only to check its depth, because Foundation's encoders
    /// are limited only by the stack, and whether the encoder can write its dates.
    ///
    /// - Throws: ``RequestSerializationError/invalidJSON(at:found:)``,
    ///   ``RequestSerializationError/parametersTooDeep(limit:)``, and any error of an `Encodable` value or
    ///   the encoder.
    public func body(of parameters: Any) throws -> Data {
        let encoder = makeEncoder?() ?? JSONEncoder()
        let value = EncodedParameters.unwrapped(parameters)
        let tree = try ParameterTree(value, for: .json(encoder))
        let data: Data
        if let object = tree.foundationObject {
            let options = writingOptions.union(.fragmentsAllowed)
            data = try JSONSerialization.data(withJSONObject: object, options: options)
        } else {
            encoder.outputFormatting.formUnion(JSONEncoder.OutputFormatting(writingOptions))
            data = try encoder.encode(tree)
        }
        let isContainer = data.first == UInt8(ascii: "{") || data.first == UInt8(ascii: "[")
        guard isContainer || writingOptions.contains(.fragmentsAllowed) else {
            throw RequestSerializationError.invalidJSON(
                at: "",
                found: "a top-level value of type \(type(of: value))"
            )
        }
        return data
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
