internal import Foundation
internal import FoundationXML

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

    /// - Parameter octets: a document in UTF-8, without instructions that have a name only.
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
