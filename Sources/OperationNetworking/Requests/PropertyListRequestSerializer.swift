public import Foundation

/// Parameters as the body of a property list, written by `PropertyListSerialization`.
///
/// What a ``QueryString`` takes is taken here as well, but for nulls, as in ``JSONRequestSerializer``. `Date` and
/// `Data` stay what they are, and an `Encodable` value is what a `PropertyListEncoder` makes of it.
///
/// Anything else is a ``RequestSerializationError/invalidPropertyList(at:found:)``, never a trap: a null, an
/// object without a description of its own, and for XML a character that XML does not have. So is a `Date`
/// outside of the years 1 to 9999 for XML, and one that is not finite for the binary format; in what an
/// `Encodable` value encodes, it is an `EncodingError`. The limit for levels is 512, as for JSON.
public struct PropertyListRequestSerializer: BodyRequestSerializer, EncodedParametersTaking, Codable {
    /// The settings and fields that all serializers have.
    public var base = HTTPRequestSerializer()

    /// XML, unless the binary format is chosen. OpenStep's can only be read: parameters are an error then.
    public var format: PropertyListSerialization.PropertyListFormat {
        get { listFormat.value }
        set { listFormat.value = newValue }
    }
    private var listFormat: RawCoded<PropertyListSerialization.PropertyListFormat>

    /// Handed to `PropertyListSerialization`, which has none so far.
    public var writeOptions: PropertyListSerialization.WriteOptions

    /// `application/x-plist`, as in AFNetworking.
    public var contentType: String { "application/x-plist" }

    /// A serializer with the fields that every ``HTTPRequestSerializer`` has.
    public init(
        format: PropertyListSerialization.PropertyListFormat = .xml,
        writeOptions: PropertyListSerialization.WriteOptions = 0
    ) {
        listFormat = RawCoded(format)
        self.writeOptions = writeOptions
    }

    /// The parameters as a property list.
    ///
    /// An `Encodable` value is asked twice for what it encodes: first only to see how deep it is, since an
    /// encoder of Foundation has no limit but the stack, and whether the format can hold its dates.
    ///
    /// - Throws: ``RequestSerializationError/invalidPropertyList(at:found:)``,
    ///   ``RequestSerializationError/parametersTooDeep(limit:)``, and what an `Encodable` value or its
    ///   encoder throws.
    public func body(of parameters: Any) throws -> Data {
        guard format == .xml || format == .binary else {
            throw RequestSerializationError.invalidPropertyList(
                at: "",
                found: "a format that can only be read"
            )
        }
        let value = EncodedParameters.unwrapped(parameters)
        let tree = try ParameterTree(value, for: .propertyList(isXML: format == .xml))
        return try PropertyListSerialization.data(
            fromPropertyList: tree.foundationObject as Any,
            format: format,
            options: writeOptions
        )
    }
}
