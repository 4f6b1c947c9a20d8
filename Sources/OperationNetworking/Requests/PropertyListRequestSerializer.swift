public import Foundation

/// Encodes parameters as a property list body.
///
/// Accepts the same values as ``JSONRequestSerializer``, except nulls. `Date` and `Data` are kept, and
/// `PropertyListEncoder` encodes other `Encodable` values.
///
/// Anything else throws ``RequestSerializationError/invalidPropertyList(at:found:)``, and never traps: a
/// null, an object without a custom description and, in XML, a character that XML cannot represent. So does a
/// `Date` outside of the years 1 to 9999 in XML, or one that is not finite in the binary format; inside an
/// `Encodable` value it throws an `EncodingError`. Nesting is limited to 512 levels, as for JSON.
public struct PropertyListRequestSerializer: BodyRequestSerializer, EncodedParametersTaking, Codable {
    /// The settings and fields that all serializers share.
    public var base = HTTPRequestSerializer()

    /// The format. Defaults to XML. The OpenStep format is read-only, so encoding parameters in it throws.
    public var format: PropertyListSerialization.PropertyListFormat {
        get { listFormat.value }
        set { listFormat.value = newValue }
    }
    private var listFormat: RawCoded<PropertyListSerialization.PropertyListFormat>

    /// Passed to `PropertyListSerialization`, which defines no options so far.
    public var writeOptions: PropertyListSerialization.WriteOptions

    /// `application/x-plist`, as in AFNetworking.
    public var contentType: String { "application/x-plist" }

    /// Creates a serializer with the default fields of ``HTTPRequestSerializer``.
    public init(
        format: PropertyListSerialization.PropertyListFormat = .xml,
        writeOptions: PropertyListSerialization.WriteOptions = 0
    ) {
        listFormat = RawCoded(format)
        self.writeOptions = writeOptions
    }

    /// Returns the parameters as a property list.
    ///
    /// An `Encodable` value is encoded twice: first only to check its depth, because Foundation's encoders
    /// are limited only by the stack, and whether the format can represent its dates.
    ///
    /// - Throws: ``RequestSerializationError/invalidPropertyList(at:found:)``,
    ///   ``RequestSerializationError/parametersTooDeep(limit:)``, and any error of an `Encodable` value or
    ///   the encoder.
    public func body(of parameters: Any) throws -> Data {
        guard format == .xml || format == .binary else {
            throw RequestSerializationError.invalidPropertyList(
                at: "",
                found: "a read-only format"
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
