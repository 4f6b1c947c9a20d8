public import Foundation
public import FoundationNetworking
internal import FoundationXML

/// A serializer that returns the body as a `FoundationXML.XMLParser` that has not been started. Set its
/// delegate, and call `parse()`.
///
/// | Response                         | Result                                                       |
/// |----------------------------------|--------------------------------------------------------------|
/// | empty body                       | `nil`                                                        |
/// | unacceptable status, XML body    | an error with the parser as its `responseObject`             |
/// | unacceptable media type          | an error; the body is not read                               |
/// | body that is unsafe to parse     | an error: see below                                          |
/// | body that is otherwise malformed | a parser, which reports that when it is started              |
///
/// The serializer refuses declarations in the document type, and thereby every entity that a document
/// declares; more than 256 levels of elements, 1,024 attributes in one element, and 256 namespaces in scope;
/// and instructions without data (`<?p?>`), on which Foundation's parser crashes. A DTD that a document names
/// is not loaded unless you set `shouldResolveExternalEntities`.
///
/// libxml2 continues after an error, and takes seconds for megabytes of errors. If you do not trust the
/// server, let your delegate call `abortParsing()` in `parser(_:parseErrorOccurred:)`.
///
/// The parser is created for this response and not kept by the library. It must not be used on two threads at
/// the same time.
public struct XMLParserResponseSerializer:
    ValidatingResponseSerializer, MessageSerializer, Hashable, ArchivableResponseSerializer
{
    /// The validation. Defaults to 200 to 299, `application/xml`, `text/xml` and all types that end in
    /// `+xml`.
    public var validation = HTTPResponseSerializer(acceptableContentTypes: HTTPResponseSerializer.xmlTypes)

    /// Creates a serializer that accepts 200 to 299 and every media type of XML.
    public init() {}

    // MARK: - ResponseSerializer

    /// Returns a parser for the body of an acceptable response.
    ///
    /// - Parameters:
    ///   - response: the head.
    ///   - data: the whole body.
    /// - Returns: a `FoundationXML.XMLParser`; `nil` for an empty body.
    /// - Throws: ``ResponseSerializationError``.
    public func responseObject(for response: HTTPURLResponse?, data: Data?) throws -> (any Sendable)? {
        try responseObject(of: ReceivedMessage(response, data))
    }

    func responseObject(of message: ReceivedMessage) throws -> (any Sendable)? {
        try validation.responseObject(of: message) {
            (body, validationError) throws(ResponseSerializationError) in
            let octets = try checkedXML(body, response: message.response, validationError: validationError)
            // A stream, because the parser refuses data of more than 10 MB.
            return handingOver(XMLParser(stream: InputStream(data: octets)))
        }
    }
}

extension HTTPResponseSerializer {
    /// AFNetworking's two types, and all types with the structured syntax suffix of [RFC 7303
    /// §4.2](https://www.rfc-editor.org/rfc/rfc7303#section-4.2), such as those of feeds and drawings.
    static let xmlTypes: Set<String> = ["application/xml", "text/xml", "*/*+xml"]
}

/// Returns the body in UTF-8 once it is safe to parse.
func checkedXML(
    _ body: Data,
    response: ReceivedResponse?,
    maximumNodeCount: Int = .max,
    validationError: ResponseSerializationError?
) throws(ResponseSerializationError) -> Data {
    do {
        let text = try XMLText(body, charset: response?.charset)
        _ = try XMLScan(text.octets.span, maximumNodeCount: maximumNodeCount)
        return text.octets
    } catch {
        throw ResponseSerializationError(
            .malformedBody(.xml, error.sentence),
            response: response,
            data: body,
            underlyingError: validationError
        )
    }
}
