public import Foundation
public import FoundationNetworking
public import FoundationXML

/// A serializer that returns the body as a `FoundationXML.XMLDocument`.
///
/// | Response                         | Result                                                        |
/// |----------------------------------|---------------------------------------------------------------|
/// | empty body                       | `nil`                                                         |
/// | unacceptable status, XML body    | an error with the document as its `responseObject`            |
/// | unacceptable media type          | an error; the body is not parsed                              |
/// | body that is not well-formed XML | an error; an unacceptable status is its underlying error      |
///
/// Documents that ``XMLParserResponseSerializer`` refuses are refused before parsing, so that no document can
/// read files, open connections or grow without limit. Documents of more than 4 million nodes (about 1 GiB)
/// are refused too; an element, text or comment counts once, an attribute twice.
///
/// The document is created for this response and not kept by the library. It must not be used on two threads
/// at the same time. It is in UTF-8, whatever encoding the body had.
///
/// - Important: Foundation on Linux never frees a parsed document: it retains the objects of all nodes,
///   including the document, once too often. Until the process ends, a response of 1.7 KB takes 33 KB, or 48
///   KB after its elements have been read. Programs that receive many documents should use
///   ``XMLParserResponseSerializer``, which does not leak.
public struct XMLDocumentResponseSerializer: ValidatingResponseSerializer, MessageSerializer, Equatable,
    ArchivableResponseSerializer
{
    /// The validation. Defaults to 200 to 299, `application/xml`, `text/xml` and all types that end in
    /// `+xml`.
    public var validation = HTTPResponseSerializer(acceptableContentTypes: HTTPResponseSerializer.xmlTypes)

    /// The options of the parser. Those that would load other resources (`.nodeLoadExternalEntitiesAlways`,
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

    /// Creates a serializer that accepts 200 to 299 and every media type of XML.
    public init(options: XMLNode.Options = []) {
        codedOptions = RawCoded(options)
    }

    // MARK: - ResponseSerializer

    /// Returns the document of an acceptable response.
    ///
    /// - Parameters:
    ///   - response: the head.
    ///   - data: the whole body.
    /// - Returns: a `FoundationXML.XMLDocument`; `nil` for an empty body.
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

    /// Validates the document with an `XMLParser`, which reports errors, before creating it: on Linux,
    /// XMLDocument repairs malformed XML and prints messages about it.
    private func document(of octets: Data) throws -> XMLDocument {
        try XMLJudge().check(octets)
        let options = options.subtracting(XMLDocumentResponseSerializer.loadingOptions)
            .union(.nodeLoadExternalEntitiesNever)
        let document = try XMLDocument(data: octets, options: options)
        // Without this, reading `characterEncoding` crashes on Linux.
        document.characterEncoding = "UTF-8"
        return document
    }

    private static func sentence(of error: any Error) -> String {
        "libxml2's error \((error as NSError).code)."
    }
}

/// Parses a document with an `XMLParser` to check that it is well-formed, and stops at the first error.
///
/// By itself, libxml2 continues after an error and describes each one: a body of 10 MB can contain millions.
final class XMLJudge: NSObject, XMLParserDelegate {
    /// Each warning takes microseconds, and Foundation never frees the 72 bytes of its text: once here, and
    /// once more when the document is created.
    static let maximumWarningCount = 1024

    private var error: (any Error)?
    /// The number of warnings and errors until now.
    private(set) var noteCount = 0

    /// - Parameter octets: a document in UTF-8 that ``XMLScan`` has accepted.
    /// - Throws: the first error, or the warning that exceeds the limit.
    func check(_ octets: Data) throws {
        // A stream is parsed piece by piece; data of more than 10 MB would be refused.
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

    /// Whether an error is only a warning (an unknown version or namespace, or an entity that the DTD may
    /// declare), or concerns namespaces, which do not matter for being well-formed.
    private static func isWarning(_ error: any Error) -> Bool {
        switch (error as NSError).code {
        case 27, 97...100, 200...205: true
        default: false
        }
    }
}
