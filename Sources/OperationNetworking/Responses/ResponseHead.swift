import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// The status line and the header fields of one response.
struct ResponseHead: Hashable, Sendable {
    /// As on the wire: `HTTP/1.1`, `HTTP/2`.
    var version: String
    var status: Int
    var fields: HeaderFields
    /// The challenges and locations that were not UTF-8, and so are read as ISO 8859-1. Their octets go back
    /// to a server as they came (RFC 9110 §5.5).
    var latin1Values: Set<String> = []

    /// The server's challenges.
    var offers: [AuthenticationOffer] {
        var offers: [AuthenticationOffer] = []
        for value in fields.values(for: "WWW-Authenticate") {
            offers += AuthenticationOffer.offers(in: [value], areLatin1: latin1Values.contains(value))
            guard offers.count < AuthenticationOffer.maximumCount else { break }
        }
        return Array(offers.prefix(AuthenticationOffer.maximumCount))
    }

    /// 1xx: another head follows. Not after 101, which ends HTTP (RFC 9110 §7.8).
    var isInterim: Bool { (100..<200).contains(status) && status != 101 }

    /// The reason why the head must not be believed; `nil`: there is none.
    func malformation(isTLS: Bool, _ asked: TransferOptions.HTTPVersion) -> String? {
        if status == 101 { return "it switches to another protocol (101)" }
        guard (200..<600).contains(status) else { return "the status is \(status)" }
        // libcurl believes a status line that says HTTP/2 on a connection that is not.
        guard isTLS || asked == .http2PriorKnowledge || version.hasPrefix("HTTP/1.") else {
            return "\(version.excerpt()) without TLS"
        }
        return nil
    }

    /// Foundation's form of it. Repeated fields are joined with a comma (RFC 9110 §5.3).
    func response(for url: URL) -> HTTPURLResponse? {
        NamedResponse(url: url, statusCode: status, httpVersion: version, headerFields: fields.dictionary)
    }
}

/// A response whose suggested name is a name: Foundation's is `Unknown` on Linux unless the server names one,
/// and knows no `filename*`.
final class NamedResponse: HTTPURLResponse, @unchecked Sendable {
    // @unchecked: as its superclass, and nothing is stored here.

    override var suggestedFilename: String? { safeFilename }
}

/// Reads response heads line by line, as libcurl hands them over.
struct ResponseHeadReader {
    /// The event that a line completes.
    enum Event {
        case nothing
        /// A whole head, interim ones included.
        case head(ResponseHead)
        /// A field after the body (RFC 9112 §7.1.2); not part of the head.
        case trailer
    }

    /// Fields whose octets go back to a server.
    private static let fieldsOfOctets = ["WWW-Authenticate", "Location", "Content-Location"]

    private var byteCount = 0
    /// Not an optional, which would be copied to be changed.
    private var head = ResponseHead(version: "", status: 0, fields: HeaderFields())
    /// Whether a head has begun and its empty line has not come.
    private(set) var isInsideHead = false
    /// Whether what follows is the body, or trailers.
    private(set) var hasFinalHead = false
    /// Whether a field came after the body.
    private(set) var hasTrailers = false
    /// The limit that was exceeded; nothing of what follows is read. Older libcurls only limit a line, and a
    /// server could send lines for ever.
    private(set) var excess: HeadLimit?
    /// Whether a field went on in another line.
    private(set) var hasFoldedLines = false
    /// The first thing that was wrong with a field.
    private(set) var malformation: String?

    /// Takes the next line, with or without its line end.
    mutating func read(_ line: Span<UInt8>) -> Event {
        byteCount += line.count
        if line.count > HeadLimit.field.value { excess = excess ?? .field }
        if byteCount > HeadLimit.heads.value { excess = excess ?? .heads }
        guard excess == nil else { return .nothing }
        let line = line.extracting(Self.withoutLineEnd(line))
        guard !line.isEmpty else {
            guard isInsideHead else { return .trailer }
            isInsideHead = false
            hasFinalHead = !head.isInterim
            return .head(head)
        }
        if isInsideHead {
            readField(line)
        } else if !hasFinalHead {
            isInsideHead = true
            head = Self.statusLine(line)
        } else {
            hasTrailers = true
            return .trailer
        }
        return .nothing
    }

    private mutating func readField(_ line: Span<UInt8>) {
        if Self.isBlank(line[0]) {
            // A folded line (RFC 9112 §5.2).
            hasFoldedLines = true
            if head.fields.isEmpty { malformation = malformation ?? Self.continuesNothing }
            let text = line.extracting(Self.trimmed(line, line.indices))
            return head.fields.continueLast(headerText: text)
        }
        // libcurl has refused lines without a colon, but takes names that are none: `Content-Length : 3`.
        var colon = 0
        while colon < line.count, line[colon].isHTTPTokenCharacter { colon += 1 }
        guard colon > 0, colon < line.count, line[colon] == UInt8(ascii: ":") else {
            return noteMalformedName(line)
        }
        let value = line.extracting(Self.trimmed(line, (colon + 1)..<line.count))
        let name = line.extracting(..<colon)
        guard !head.fields.append(name: name, headerText: value) else { return }
        let field = String(headerText: name)
        if Self.fieldsOfOctets.contains(where: { field.isEqualIgnoringASCIICase(to: $0) }) {
            head.latin1Values.insert(String(headerText: value))
        }
    }

    private mutating func noteMalformedName(_ line: Span<UInt8>) {
        let end = line.indices.first { line[$0] == UInt8(ascii: ":") } ?? line.count
        let name = String(headerText: line.extracting(..<end))
        malformation = malformation ?? "\(name.excerpt().debugDescription) is not a field name"
    }

    /// `HTTP/1.1 200 OK` or `HTTP/2 200`; libcurl has checked its form.
    private static func statusLine(_ line: Span<UInt8>) -> ResponseHead {
        let version = word(of: line, from: 0)
        var status = 0
        for index in word(of: line, from: version.upperBound) {
            guard line[index].isASCIIDigit, status < 1000 else {
                status = 0
                break
            }
            status = status * 10 + Int(line[index] - UInt8(ascii: "0"))
        }
        return ResponseHead(
            version: versionName(line.extracting(version)),
            status: status,
            fields: .withRoom()
        )
    }

    /// Made of the line only if it is a rare one.
    private static func versionName(_ bytes: Span<UInt8>) -> String {
        switch bytes.count {
        case 8 where bytes.has("HTTP/1.1"): "HTTP/1.1"
        case 6 where bytes.has("HTTP/2"): "HTTP/2"
        default: String(headerText: bytes)
        }
    }

    /// The place of the next word; empty if there is none.
    private static func word(of line: Span<UInt8>, from start: Int) -> Range<Int> {
        var start = start
        while start < line.count, line[start] == UInt8(ascii: " ") { start += 1 }
        var end = start
        while end < line.count, line[end] != UInt8(ascii: " ") { end += 1 }
        return start..<end
    }

    private static func withoutLineEnd(_ line: Span<UInt8>) -> Range<Int> {
        var end = line.count
        while end > 0, line[end - 1] == UInt8(ascii: "\n") || line[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        return 0..<end
    }

    private static func trimmed(_ text: Span<UInt8>, _ bounds: Range<Int>) -> Range<Int> {
        var (start, end) = (bounds.lowerBound, bounds.upperBound)
        while start < end, isBlank(text[start]) { start += 1 }
        while start < end, isBlank(text[end - 1]) { end -= 1 }
        return start..<end
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }
}
