internal import Foundation

/// Parses requests from the bytes of a connection, in pieces of any size. Cannot be used after an error.
struct RequestParser {
    /// The next item that a connection reads.
    enum Event: Equatable {
        case head(method: String, target: String, version: String, headers: FieldLines)
        case body(Data)
        case end(trailers: FieldLines)
    }

    private enum Phase {
        case head
        case body(remaining: Int)
        case chunkSize
        case chunk(remaining: Int)
        case chunkEnd
        case trailers(FieldLines)
    }

    private static let longestLine = 1 << 20

    private var phase = Phase.head
    private var bytes: [UInt8] = []
    /// The index in `bytes` of the first unread byte.
    private var start = 0

    /// Whether no byte of the next request has been received.
    var isIdle: Bool {
        if case .head = phase { return start == bytes.count }
        return false
    }

    mutating func append(_ more: UnsafeRawBufferPointer) {
        if start > 0 {
            bytes.removeFirst(start)
            start = 0
        }
        bytes.append(contentsOf: more)
    }

    /// Skips the announced body, which the client does not send.
    mutating func leaveBody() {
        phase = .head
    }

    /// Returns the next item; `nil` if more bytes are needed.
    mutating func next() throws(MalformedRequest) -> Event? {
        while true {
            switch phase {
            case .head:
                return try nextHead()
            case .body(remaining: 0):
                phase = .head
                return .end(trailers: [:])
            case .body(let remaining):
                guard let data = take(atMost: remaining) else { return nil }
                phase = .body(remaining: remaining - data.count)
                return .body(data)
            case .chunkSize:
                guard let line = try line() else { return nil }
                let digits = line.split(separator: ";").first?.trimmed ?? ""
                guard let size = Int(digits, radix: 16), size >= 0 else {
                    throw MalformedRequest("\"\(line)\" is not the size of a chunk.")
                }
                phase = size == 0 ? .trailers([:]) : .chunk(remaining: size)
            case .chunk(remaining: 0):
                phase = .chunkEnd
            case .chunk(let remaining):
                guard let data = take(atMost: remaining) else { return nil }
                phase = .chunk(remaining: remaining - data.count)
                return .body(data)
            case .chunkEnd:
                guard let line = try line() else { return nil }
                guard line.isEmpty else { throw MalformedRequest("A chunk is longer than its size.") }
                phase = .chunkSize
            case .trailers(var fields):
                guard let line = try line() else { return nil }
                if line.isEmpty {
                    phase = .head
                    return .end(trailers: fields)
                }
                try Self.add(line, to: &fields)
                phase = .trailers(fields)
            }
        }
    }

    // MARK: - Parts

    private mutating func nextHead() throws(MalformedRequest) -> Event? {
        guard let text = try head() else { return nil }
        var lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)[...]
        guard let requestLine = lines.popFirst() else { throw MalformedRequest("There is no request line.") }
        let words = requestLine.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0" else {
            throw MalformedRequest("\"\(requestLine)\" is not a request line.")
        }
        var headers = FieldLines()
        for line in lines { try Self.add(line, to: &headers) }
        phase = try Self.bodyPhase(headers)
        return .head(
            method: String(words[0]),
            target: String(words[1]),
            version: String(words[2]),
            headers: headers
        )
    }

    /// The framing of the body: [RFC 9112 §6.3](https://www.rfc-editor.org/rfc/rfc9112#section-6.3).
    private static func bodyPhase(_ headers: FieldLines) throws(MalformedRequest) -> Phase {
        let lengths = headers.values(of: "Content-Length")
        if headers["Transfer-Encoding"] != nil {
            guard headers.list("Transfer-Encoding", contains: "chunked"), lengths.isEmpty else {
                throw MalformedRequest("The body's framing is ambiguous or unknown.")
            }
            return .chunkSize
        }
        guard let length = lengths.first else { return .body(remaining: 0) }
        guard lengths.count == 1, let count = Int(length), count >= 0 else {
            throw MalformedRequest("\(lengths) is not a length.")
        }
        return .body(remaining: count)
    }

    private static func add(_ line: Substring, to fields: inout FieldLines) throws(MalformedRequest) {
        guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else {
            throw MalformedRequest("\"\(line)\" is not a field.")
        }
        fields.append(String(line[..<colon]), String(line[line.index(after: colon)...].trimmed))
    }

    // MARK: - Bytes

    /// The text up to the empty line.
    private mutating func head() throws(MalformedRequest) -> String? {
        var search = start
        while let lineEnd = indexOfLineFeed(from: search) {
            let length = lineEnd - search
            search = lineEnd + 1
            if length > 1 || (length == 1 && bytes[lineEnd - 1] != 13) { continue }
            guard length == 1, lineEnd - start > 2 else {
                throw MalformedRequest("A line does not end with CR and LF, or there is no request line.")
            }
            let text = Self.text(bytes[start..<lineEnd - 3])
            start = lineEnd + 1
            return text
        }
        try checkLength()
        return nil
    }

    /// One line, without its line end.
    private mutating func line() throws(MalformedRequest) -> Substring? {
        guard let end = indexOfLineFeed(from: start) else {
            try checkLength()
            return nil
        }
        guard end > start, bytes[end - 1] == 13 else {
            throw MalformedRequest("A line does not end with CR and LF.")
        }
        defer { start = end + 1 }
        return Self.text(bytes[start..<end - 1])[...]
    }

    private mutating func take(atMost count: Int) -> Data? {
        let count = min(count, bytes.count - start)
        guard count > 0 else { return nil }
        defer { start += count }
        return Data(bytes[start..<start + count])
    }

    private func indexOfLineFeed(from index: Int) -> Int? {
        bytes.withUnsafeBytes { all in
            guard index < all.count, let base = all.baseAddress else { return nil }
            guard let found = memchr(base + index, 10, all.count - index) else { return nil }
            return UnsafeRawPointer(found) - base
        }
    }

    private func checkLength() throws(MalformedRequest) {
        if bytes.count - start > Self.longestLine {
            throw MalformedRequest("The header section is longer than \(Self.longestLine) bytes.")
        }
    }

    /// Decodes as UTF-8, or as ISO 8859-1 if that fails.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}

/// The error of a request that is not valid HTTP/1.x.
struct MalformedRequest: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
