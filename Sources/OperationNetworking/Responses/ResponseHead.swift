import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// The status line and the header fields of one response.
struct ResponseHead: Hashable, Sendable {
    /// As on the wire: `HTTP/1.1`, `HTTP/2`.
    var version: String
    var status: Int
    var fields: HeaderFields

    /// 1xx: another head follows.
    var isInterim: Bool { (100..<200).contains(status) }

    /// The reason why the head must not be believed; `nil`: there is none.
    func malformation(isTLS: Bool, _ asked: TransferOptions.HTTPVersion) -> String? {
        guard (200..<600).contains(status) else { return "the status is \(status)" }
        // libcurl believes a status line that says HTTP/2 on a connection that is not.
        guard isTLS || asked == .http2PriorKnowledge || version.hasPrefix("HTTP/1.") else {
            return "\(version) without TLS"
        }
        return nil
    }

    /// Foundation's form of it. Repeated fields are joined with a comma (RFC 9110 §5.3).
    func response(for url: URL) -> HTTPURLResponse? {
        HTTPURLResponse(url: url, statusCode: status, httpVersion: version, headerFields: fields.dictionary)
    }
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

    private var byteCount = 0
    private var head: ResponseHead?
    /// Whether what follows is the body, or trailers.
    private(set) var hasFinalHead = false
    /// Whether a field came after the body.
    private(set) var hasTrailers = false
    /// The limit that was exceeded; nothing of what follows is read. Older libcurls only limit a line, and a
    /// server could send lines for ever.
    private(set) var excess: HeadLimit?
    /// The first thing that was wrong with a field.
    private(set) var malformation: String?

    /// Whether a head has begun and its empty line has not come.
    var isInsideHead: Bool { head != nil }

    /// Takes the next line, with or without its line end.
    mutating func read(_ line: Span<UInt8>) -> Event {
        byteCount += line.count
        if line.count > HeadLimit.field.value { excess = excess ?? .field }
        if byteCount > HeadLimit.heads.value { excess = excess ?? .heads }
        guard excess == nil else { return .nothing }
        let line = line.extracting(Self.withoutLineEnd(line))
        guard !line.isEmpty else {
            guard let complete = head else { return .trailer }
            head = nil
            hasFinalHead = !complete.isInterim
            return .head(complete)
        }
        if head == nil, !hasFinalHead {
            head = Self.statusLine(line)
        } else if head != nil {
            readField(line)
        } else {
            hasTrailers = true
            return .trailer
        }
        return .nothing
    }

    private mutating func readField(_ line: Span<UInt8>) {
        if Self.isBlank(line[0]) {
            // A folded line (RFC 9112 §5.2).
            if head?.fields.isEmpty == true { malformation = malformation ?? Self.continuesNothing }
            head?.fields.continueLast(
                with: String(headerText: line.extracting(Self.trimmed(line, line.indices)))
            )
            return
        }
        // libcurl has refused lines without a colon, but takes names that are none: `Content-Length : 3`.
        let colon = line.indices.first { line[$0] == UInt8(ascii: ":") } ?? line.count
        let rawName = String(headerText: line.extracting(0..<colon))
        guard rawName.isHTTPToken, colon < line.count else {
            malformation = malformation ?? "\(rawName.debugDescription) is not a field name"
            return
        }
        let value = line.extracting(Self.trimmed(line, (colon + 1)..<line.count))
        head?.fields.append(name: rawName, value: String(headerText: value))
    }

    /// `HTTP/1.1 200 OK` or `HTTP/2 200`; libcurl has checked its form.
    private static func statusLine(_ line: Span<UInt8>) -> ResponseHead {
        let parts = String(headerText: line).split(separator: " ", maxSplits: 2)
        return ResponseHead(
            version: parts.first.map { String($0) } ?? "",
            status: parts.count > 1 ? Int(parts[1]) ?? 0 : 0,
            fields: HeaderFields()
        )
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
