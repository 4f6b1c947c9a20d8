public import Foundation
public import FoundationNetworking

/// A serializer that returns the body as a property list: `[String: any Sendable]`, `[any Sendable]`,
/// `String`, `NSNumber`, `Bool`, `Date` and `Data`, all of which are values or immutable.
///
/// | Response                            | Result                                                         |
/// |-------------------------------------|----------------------------------------------------------------|
/// | empty body                          | `nil`                                                          |
/// | unacceptable status, property list  | an error with the list as its `responseObject`                 |
/// | unacceptable media type             | an error; the body is not parsed                               |
/// | body that is neither XML nor binary | an error; an unacceptable status is its underlying error       |
///
/// Every body is checked before Foundation parses it, because Foundation trusts bodies too much. The
/// serializer refuses more than 256 levels; circular references; references that would make the list far
/// larger than the body (more than 16 times, beyond 64 MiB); more than 4 million values (about 1 GiB; in XML,
/// a value with text counts twice); dictionaries of more than 11,585 keys (or several whose keys form as many
/// pairs); sizes that exceed the body; dates that are not a number (NaN); XML as in
/// ``XMLParserResponseSerializer``; and the references of keyed archives.
///
/// The text format of OpenStep is not supported, because almost any text is valid in it.
public struct PropertyListResponseSerializer: ValidatingResponseSerializer, MessageSerializer, Equatable,
    ArchivableResponseSerializer
{
    /// The validation. Defaults to 200 to 299 and `application/x-plist`.
    public var validation = HTTPResponseSerializer(acceptableContentTypes: ["application/x-plist"])

    /// The options of the parser. The two options for mutable containers are ignored, because a tree that is
    /// shared between threads must not change.
    public var readOptions: PropertyListSerialization.ReadOptions {
        get { options.value }
        set { options.value = newValue }
    }
    private var options: RawCoded<PropertyListSerialization.ReadOptions>

    /// Creates a serializer that accepts 200 to 299 and `application/x-plist`.
    public init(readOptions: PropertyListSerialization.ReadOptions = []) {
        options = RawCoded(readOptions)
    }

    /// Returns the format of a body, XML or binary, which its first octets show.
    ///
    /// - Parameter data: the body of a response.
    /// - Returns: `.binary` or `.xml`; `nil` for neither, and for an empty body.
    public static func format(of data: Data) -> PropertyListSerialization.PropertyListFormat? {
        if data.starts(with: BinaryPropertyListScan.mark) { return .binary }
        guard let text = try? XMLText(data, charset: nil) else { return nil }
        return text.octets.first { !$0.isXMLSpace } == UInt8(ascii: "<") ? .xml : nil
    }

    // MARK: - ResponseSerializer

    /// Returns the list of an acceptable response.
    ///
    /// - Parameters:
    ///   - response: the head.
    ///   - data: the whole body.
    /// - Returns: the list; `nil` for an empty body.
    /// - Throws: ``ResponseSerializationError``.
    public func responseObject(for response: HTTPURLResponse?, data: Data?) throws -> (any Sendable)? {
        try responseObject(of: ReceivedMessage(response, data))
    }

    func responseObject(of message: ReceivedMessage) throws -> (any Sendable)? {
        try validation.responseObject(of: message) {
            (body, validationError) throws(ResponseSerializationError) in
            try list(of: body, response: message.response, validationError: validationError)
        }
    }

    // MARK: - Private

    private func list(
        of data: Data,
        response: ReceivedResponse?,
        validationError: ResponseSerializationError?
    ) throws(ResponseSerializationError) -> any Sendable {
        let checked = try Self.checked(data, response: response, validationError: validationError)
        let tree: Any
        do {
            let options = readOptions.subtracting([.mutableContainers, .mutableContainersAndLeaves])
            // Unsafe because of its pointer to a format, which is not used.
            tree = try unsafe PropertyListSerialization.propertyList(
                from: checked.octets,
                options: options,
                format: nil
            )
        } catch {
            let sentence = (error as NSError).userInfo["NSDebugDescription"] as? String
            throw Self.malformed(
                sentence ?? error.localizedDescription,
                data,
                response: response,
                underlyingError: validationError ?? error
            )
        }
        guard let list = Self.values(of: tree) else {
            throw Self.malformed(
                "It contains a reference of a keyed archive.",
                data,
                response: response,
                underlyingError: validationError
            )
        }
        return list
    }

    /// Returns the body in a form that Foundation can parse safely, and its number of levels.
    static func checked(
        _ data: Data,
        response: ReceivedResponse?,
        validationError: ResponseSerializationError?
    ) throws(ResponseSerializationError) -> (octets: Data, depth: Int) {
        do throws(BodyRefusal) {
            if data.starts(with: BinaryPropertyListScan.mark) {
                return (data, try BinaryPropertyListScan(data.span).depth)
            }
            let text = try XMLText(data, charset: response?.charset)
            let scan = try XMLScan(
                text.octets.span,
                isPropertyList: true,
                maximumNodeCount: BodyRefusal.maximumValueCount
            )
            return (text.octets, scan.depth)
        } catch {
            throw malformed(error.sentence, data, response: response, underlyingError: validationError)
        }
    }

    private static func malformed(
        _ sentence: String,
        _ data: Data,
        response: ReceivedResponse?,
        underlyingError: (any Error)?
    ) -> ResponseSerializationError {
        ResponseSerializationError(
            .malformedBody(.propertyList, sentence),
            response: response,
            data: data,
            underlyingError: underlyingError
        )
    }

    /// Returns the same tree with types that are declared `Sendable`; `nil` if it contains anything else.
    private static func values(of tree: Any) -> (any Sendable)? {
        switch tree {
        case let text as String: return text
        case let dictionary as [AnyHashable: Any]:
            var values: [String: any Sendable] = [:]
            values.reserveCapacity(dictionary.count)
            for (key, value) in dictionary {
                guard let key = key.base as? String, let value = self.values(of: value) else { return nil }
                values[key] = value
            }
            return values
        case let array as [Any]:
            var values: [any Sendable] = []
            values.reserveCapacity(array.count)
            for element in array {
                guard let value = self.values(of: element) else { return nil }
                values.append(value)
            }
            return values
        case let truth as Bool where !(tree is NSNumber): return truth
        case let data as Data: return data
        case let date as Date: return date
        case let number as NSNumber: return number
        default: return nil
        }
    }
}
