public import Foundation
public import FoundationNetworking

/// A serializer that returns the body as a JSON tree: `[String: Any]`, `[Any]`, `String`, `NSNumber` and
/// `NSNull`, all of which are values or immutable.
///
/// | Response                           | Result                                                        |
/// |------------------------------------|---------------------------------------------------------------|
/// | empty body, or one space           | `nil`                                                         |
/// | unacceptable status, JSON body     | an error with the tree as its `responseObject`                |
/// | unacceptable media type            | an error; the body is not parsed                              |
/// | body that is not JSON              | an error; an unacceptable status is its underlying error      |
/// | more than 512 levels of containers | an error, as in Foundation, so that no body exhausts the stack |
/// | a tree of more than about 1 GiB    | an error: 16 million numbers, or 340,000 objects              |
///
/// Foundation takes 60 to 100 bytes for a number and 3 KB for an object, so a small compressed body could
/// exhaust the memory. For a larger body, use ``DecodableResponseSerializer``, which reads up to 16 million
/// values.
///
/// UTF-8, UTF-16 and UTF-32 are recognized by the first octets. Other character sets are decoded as the
/// response says.
public struct JSONResponseSerializer: ValidatingResponseSerializer, MessageSerializer, Equatable,
    ArchivableResponseSerializer
{
    /// The validation. Defaults to 200 to 299, `application/json`, `text/json`, `text/javascript`,
    /// `application/problem+json` and all types that end in `+json`.
    public var validation = HTTPResponseSerializer(acceptableContentTypes: [
        "application/json", "text/json", "text/javascript", "application/problem+json", "*/*+json",
    ])

    /// The options of the parser. The two options for mutable containers are ignored, because a tree that is
    /// shared between threads must not change.
    public var readingOptions: JSONSerialization.ReadingOptions {
        get { options.value }
        set { options.value = newValue }
    }
    private var options: RawCoded<JSONSerialization.ReadingOptions>

    /// Whether members of objects whose value is null are removed, at any depth. Null in arrays stays.
    public var removesKeysWithNullValues = false

    /// The body that Rails sends for `head :ok`.
    private static let space = Data([UInt8(ascii: " ")])

    /// Creates a serializer that accepts 200 to 299 and every media type of JSON.
    public init(readingOptions: JSONSerialization.ReadingOptions = []) {
        options = RawCoded(readingOptions)
    }

    // MARK: - ResponseSerializer

    /// Returns the tree of an acceptable response.
    ///
    /// - Parameters:
    ///   - response: the head.
    ///   - data: the whole body.
    /// - Returns: the tree; `nil` for an empty body and for a single space.
    /// - Throws: ``ResponseSerializationError``.
    public func responseObject(for response: HTTPURLResponse?, data: Data?) throws -> (any Sendable)? {
        try responseObject(of: ReceivedMessage(response, data))
    }

    func responseObject(of message: ReceivedMessage) throws -> (any Sendable)? {
        try validation.responseObject(of: message) {
            (body, validationError) throws(ResponseSerializationError) in
            try tree(of: body, response: message.response, validationError: validationError)
        }
    }

    /// Parsing takes some 20 nanoseconds per byte.
    func isQuick(byteCount: Int?) -> Bool { (byteCount ?? 0) <= 16 * 1024 }

    // MARK: - Private

    private func tree(
        of data: Data,
        response: ReceivedResponse?,
        validationError: ResponseSerializationError?
    ) throws(ResponseSerializationError) -> (any Sendable)? {
        guard data != JSONResponseSerializer.space else { return nil }
        let text = try JSONText(
            data,
            response: response,
            makesTree: true,
            validationError: validationError
        )
        let tree: Any
        do {
            let options = readingOptions.subtracting([.mutableContainers, .mutableLeaves])
            tree = try JSONSerialization.jsonObject(with: text.octets, options: options)
        } catch {
            let sentence = (error as NSError).userInfo["NSDebugDescription"] as? String
            throw ResponseSerializationError(
                .malformedBody(.json, sentence ?? error.localizedDescription),
                response: response,
                data: data,
                underlyingError: validationError ?? error
            )
        }
        return handingOver(removesKeysWithNullValues ? removingNulls(from: tree) : tree)
    }

    private func removingNulls(from tree: Any) -> Any {
        if let object = tree as? [String: Any] {
            object.filter { !($0.value is NSNull) }.mapValues(removingNulls)
        } else if let array = tree as? [Any] {
            array.map(removingNulls)
        } else {
            tree
        }
    }
}
