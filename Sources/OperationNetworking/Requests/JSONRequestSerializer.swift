public import Foundation

/// Parameters as a JSON body.
///
/// What a ``QueryString`` takes is taken here as well: text (`URL`, `Substring` and `Character` are text),
/// numbers (`CGFloat` and `Decimal` are numbers), `Bool`, nulls, raw values, other `Encodable` values, and
/// dictionaries, arrays and sets of all these. Numbers stay numbers, and `Bool` stays `Bool`. A set is an array,
/// in the order of its elements' texts, and a key is its text.
///
/// `JSONSerialization` writes the body, with ``writingOptions``. If there is a `Date`, `Data` or another
/// `Encodable` value anywhere, the encoder that ``makeEncoder`` makes writes it, so dates and keys are as its
/// strategies have them; the keys of dictionaries stay as they are.
///
/// Anything else is a ``RequestSerializationError/invalidJSON(at:found:)``, never a trap: an object without a
/// description of its own, a number that is not finite if the encoder has no strategy for it, text or a number by
/// itself. The limit for levels, 512, is that of Foundation's parser. In what an `Encodable` value encodes, a
/// number that is not finite is an `EncodingError` of the encoder. A `Date` outside of the years 1 to 9999 is an
/// error when the encoder's strategy is `.iso8601`, which would write another date for it.
public struct JSONRequestSerializer: BodyRequestSerializer, EncodedParametersTaking, Codable {
    /// The settings and fields that all serializers have.
    public var base = HTTPRequestSerializer()

    /// The options of `JSONSerialization`; an encoder has these besides its own. With `.fragmentsAllowed` the
    /// parameters need not be a dictionary or an array.
    public var writingOptions: JSONSerialization.WritingOptions {
        get { options.value }
        set { options.value = newValue }
    }
    private var options: RawCoded<JSONSerialization.WritingOptions>

    /// Makes an encoder for one body: encoders are objects, and a serializer has none of its own. `nil` (the
    /// default) makes one without settings. A serializer with this closure cannot be encoded.
    public var makeEncoder: (@Sendable () -> JSONEncoder)? {
        get { makeEncoderClosure?.closure }
        set { makeEncoderClosure = newValue.map { UncodableClosure($0) } }
    }
    private var makeEncoderClosure: UncodableClosure<@Sendable () -> JSONEncoder>?

    /// `application/json`, without a charset as in AFNetworking since 2.5: JSON is UTF-8.
    public var contentType: String { "application/json" }

    /// A serializer with the fields that every ``HTTPRequestSerializer`` has.
    public init(writingOptions: JSONSerialization.WritingOptions = []) {
        options = RawCoded(writingOptions)
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
                found: "a value of type \(type(of: value)) by itself"
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
