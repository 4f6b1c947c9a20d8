import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// The status line and the header fields of one response.
struct ResponseHead: Hashable, Sendable {
    /// The version as sent: `HTTP/1.1`, `HTTP/2`.
    var version: String
    var status: Int
    var fields: HeaderFields
    /// The challenges and locations that were not UTF-8, and so were read as ISO 8859-1. Their octets are
    /// sent back to a server unchanged (RFC 9110 §5.5).
    var latin1Values: Set<String> = []
    /// Whether the body cannot be received even if the response has one, because its end is unknown or it was
    /// not requested. The transfer ends with the head.
    private(set) var isWithoutBody = false

    /// The same head with ``isWithoutBody`` set.
    var withoutBody: ResponseHead {
        var head = self
        head.isWithoutBody = true
        return head
    }

    /// The authentication challenges of the server.
    var offers: [AuthenticationOffer] {
        var offers: [AuthenticationOffer] = []
        for value in fields.values(for: "WWW-Authenticate") {
            offers += AuthenticationOffer.offers(in: [value], areLatin1: latin1Values.contains(value))
            guard offers.count < AuthenticationOffer.maximumCount else { break }
        }
        return Array(offers.prefix(AuthenticationOffer.maximumCount))
    }

    /// Whether another head follows (1xx). False for 101, which ends HTTP (RFC 9110 §7.8).
    var isInterim: Bool { (100..<200).contains(status) && status != 101 }

    /// The reason to reject the head; `nil` if it is well-formed.
    func malformation(isTLS: Bool, _ asked: TransferOptions.HTTPVersion) -> String? {
        if status == 101 { return "it switches to another protocol (101)" }
        guard (200..<600).contains(status) else { return "the status is \(status)" }
        // libcurl accepts a status line with HTTP/2 on a connection that is not HTTP/2.
        guard isTLS || asked == .http2PriorKnowledge || version.hasPrefix("HTTP/1.") else {
            return "\(version.excerpt()) without TLS"
        }
        return nil
    }

    /// Returns Foundation's form of the head. Repeated fields are joined with a comma (RFC 9110 §5.3).
    func response(for url: URL) -> HTTPURLResponse? {
        NamedResponse(url: url, statusCode: status, httpVersion: version, headerFields: fields.dictionary)
    }
}

/// A response with a usable `suggestedFilename`. On Linux, Foundation's is `Unknown` if the server suggests
/// none, and ignores `filename*`.
final class NamedResponse: HTTPURLResponse, @unchecked Sendable {
    // @unchecked: as its superclass; it adds no stored properties.

    override var suggestedFilename: String? { safeFilename }
}

/// Parses response heads line by line, as libcurl delivers them.
struct ResponseHeadReader {
    /// The event that a line completes.
    enum Event {
        case nothing
        /// A complete head. It may be an interim one.
        case head(ResponseHead)
        /// A field after the body (RFC 9112 §7.1.2), which is not part of the head.
        case trailer
    }

    /// The fields whose octets are sent back to a server.
    private static let fieldsOfOctets = ["WWW-Authenticate", "Location", "Content-Location"]

    private var byteCount = 0
    /// Not an optional, because changing its value would copy it.
    private var head = ResponseHead(version: "", status: 0, fields: HeaderFields())
    /// Whether a head has begun and its empty line has not been received.
    private(set) var isInsideHead = false
    /// Whether the final head has been received, so that the body or trailers follow.
    private(set) var hasFinalHead = false
    /// Whether a field was received after the body.
    private(set) var hasTrailers = false
    /// The limit that was exceeded. Later lines are ignored. Older versions of libcurl only limit the length
    /// of a line, so a server could send lines forever.
    private(set) var excess: HeadLimit?
    /// Whether a field continued on another line.
    private(set) var hasFoldedLines = false
    /// The first error in a line. If set, the head is rejected.
    private(set) var malformation: String?

    /// The final head as far as it was received, if it is incomplete.
    var unfinishedHead: ResponseHead? { isInsideHead && !head.isInterim ? head : nil }

    /// Reads the next line, with or without its line end.
    mutating func read(_ line: Span<UInt8>) -> Event {
        byteCount += line.count
        if line.count > HeadLimit.field.value { excess = excess ?? .field }
        if byteCount > HeadLimit.heads.value { excess = excess ?? .heads }
        guard excess == nil else { return .nothing }
        let line = line.extracting(Self.withoutLineEnd(line))
        noteBareCR(line)
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
        // libcurl rejects lines without a colon, but accepts invalid names: `Content-Length : 3`.
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

    /// Records a CR without an LF, which others may take for the end of a line (RFC 9112 §2.2). libcurl
    /// rejects a NUL.
    private mutating func noteBareCR(_ line: Span<UInt8>) {
        guard line.firstIndex(of: UInt8(ascii: "\r")) != nil else { return }
        malformation = malformation ?? "a line has a CR in it"
    }

    private mutating func noteMalformedName(_ line: Span<UInt8>) {
        let end = line.firstIndex(of: UInt8(ascii: ":")) ?? line.count
        let name = String(headerText: line.extracting(..<end))
        malformation = malformation ?? "\(name.excerpt().debugDescription) is not a field name"
    }

    /// Parses `HTTP/1.1 200 OK` or `HTTP/2 200`. libcurl has checked its form.
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

    /// A constant for common versions; only others are copied from the line.
    private static func versionName(_ bytes: Span<UInt8>) -> String {
        switch bytes.count {
        case 8 where bytes.has("HTTP/1.1"): "HTTP/1.1"
        case 6 where bytes.has("HTTP/2"): "HTTP/2"
        default: String(headerText: bytes)
        }
    }

    /// The range of the next word; empty if the line has no more.
    private static func word(of line: Span<UInt8>, from start: Int) -> Range<Int> {
        var start = start
        while start < line.count, line[start] == UInt8(ascii: " ") { start += 1 }
        var end = start
        while end < line.count, line[end] != UInt8(ascii: " ") { end += 1 }
        return start..<end
    }

    /// The range of a line without its line end. CRs before it are white space (RFC 9112 §2.2).
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
