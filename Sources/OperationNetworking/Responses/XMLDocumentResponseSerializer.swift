public import Foundation
public import FoundationNetworking
public import FoundationXML

/// The body as a `FoundationXML.XMLDocument`.
///
/// | Response                         | Result                                                        |
/// |----------------------------------|---------------------------------------------------------------|
/// | empty body                       | `nil`                                                         |
/// | unacceptable status, XML body    | an error with the document as its `responseObject`            |
/// | unacceptable media type          | an error; the body is not parsed                              |
/// | body that is not well-formed XML | an error, with the one for the status under it if there is one |
///
/// Documents that ``XMLParserResponseSerializer`` refuses are refused before parsing, so none reads files,
/// opens connections, or grows. So are documents of more than 4 million nodes (about 1 GiB); an element, text
/// or comment counts one, an attribute two.
///
/// The document is yours alone: it is made for this one response, and nothing here keeps it. It is not safe
/// to use it from two threads at a time. It is in UTF-8, whatever encoding the body had.
///
/// - Important: Foundation on Linux never frees a document that it has parsed: each node's object, the
///   document's first, is retained once too often when it is made. A response of 1.7 KB costs 33 KB, and
///   48 KB once its elements were read, until the process ends. Programs that get many documents use
///   ``XMLParserResponseSerializer``, which keeps nothing.
public struct XMLDocumentResponseSerializer: ValidatingResponseSerializer, MessageSerializer, Equatable,
    ArchivableResponseSerializer
{
    /// 200 to 299, `application/xml`, `text/xml` and all types that end in `+xml` unless set.
    public var validation = HTTPResponseSerializer(acceptableContentTypes: HTTPResponseSerializer.xmlTypes)

    /// The options of the parser. Those that would load something else (`.nodeLoadExternalEntitiesAlways`,
    /// `.nodeLoadExternalEntitiesSameOriginOnly`, `.documentXInclude`, `.documentValidate`) are ignored.
    public var options: XMLNode.Options {
        get { codedOptions.value }
        set { codedOptions.value = newValue }
    }
    private var codedOptions: RawCoded<XMLNode.Options>

    private static let loadingOptions: XMLNode.Options = [
        .nodeLoadExternalEntitiesAlways, .nodeLoadExternalEntitiesSameOriginOnly, .documentXInclude,
        .documentValidate,
    ]

    /// A serializer that accepts 200 to 299 and every media type of XML.
    public init(options: XMLNode.Options = []) {
        codedOptions = RawCoded(options)
    }

    // MARK: - ResponseSerializer

    /// The document of an acceptable response.
    ///
    /// - Parameters:
    ///   - response: the head.
    ///   - data: the whole body.
    /// - Returns: a `FoundationXML.XMLDocument`, `nil` for an empty body.
    /// - Throws: ``ResponseSerializationError``.
    public func responseObject(for response: HTTPURLResponse?, data: Data?) throws -> (any Sendable)? {
        try responseObject(of: ReceivedMessage(response, data))
    }

    func responseObject(of message: ReceivedMessage) throws -> (any Sendable)? {
        try validation.responseObject(of: message) {
            (body, validationError) throws(ResponseSerializationError) in
            let octets = try checkedXML(
                body,
                response: message.response,
                maximumNodeCount: BodyRefusal.maximumValueCount,
                validationError: validationError
            )
            do {
                return handingOver(try document(of: octets))
            } catch {
                throw ResponseSerializationError(
                    .malformedBody(.xml, XMLDocumentResponseSerializer.sentence(of: error)),
                    response: message.response,
                    data: body,
                    underlyingError: validationError ?? error
                )
            }
        }
    }

    // MARK: - Private

    /// XMLDocument on Linux mends malformed XML, and prints about it; XMLParser reports an error. So the
    /// parser goes first.
    private func document(of octets: Data) throws -> XMLDocument {
        try XMLJudge().check(octets)
        let options = options.subtracting(XMLDocumentResponseSerializer.loadingOptions)
            .union(.nodeLoadExternalEntitiesNever)
        let document = try XMLDocument(data: octets, options: options)
        // Without it, asking for characterEncoding crashes on Linux.
        document.characterEncoding = "UTF-8"
        return document
    }

    private static func sentence(of error: any Error) -> String {
        "libxml2's error \((error as NSError).code)."
    }
}

/// Runs an `XMLParser` over a document for its verdict, and stops at the first thing that is wrong.
///
/// Left alone, libxml2 goes on behind an error, and describes each: a body of 10 MB can hold millions.
final class XMLJudge: NSObject, XMLParserDelegate {
    /// Each takes microseconds, and Foundation never frees the 72 bytes of its sentence; once here, and once
    /// more when the document is made.
    static let maximumWarningCount = 1024

    private var error: (any Error)?
    /// The number of warnings and errors so far.
    private(set) var noteCount = 0

    /// - Parameter octets: a document in UTF-8 that ``XMLScan`` has accepted.
    /// - Throws: what makes it not well-formed, or one warning too many.
    func check(_ octets: Data) throws {
        // As a stream, which the parser is fed from bit by bit: it refuses 10 MB at a time.
        let parser = XMLParser(stream: InputStream(data: octets))
        parser.delegate = self
        let isWhole = parser.parse()
        if let error { throw error }
        if let error = parser.parserError, !isWhole || !XMLJudge.isWarning(error) { throw error }
        guard isWhole else { throw CocoaError(.fileReadCorruptFile) }
    }

    func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
        noteCount += 1
        let isAllowed = XMLJudge.isWarning(parseError) && noteCount <= XMLJudge.maximumWarningCount
        guard error == nil, !isAllowed else { return }
        error = parseError
        parser.abortParsing()
    }

    /// Whether libxml2 only warned (an unknown version or namespace, an entity that the DTD may declare), or
    /// minds namespaces, which are no part of being well-formed.
    private static func isWarning(_ error: any Error) -> Bool {
        switch (error as NSError).code {
        case 27, 97...100, 200...205: true
        default: false
        }
    }
}
