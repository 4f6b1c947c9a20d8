public import Foundation

/// A request as it was received.
public struct ReceivedRequest: Sendable {
    /// The request's number at the server, counted from 0: its index in ``ScriptedServer/requests``.
    public internal(set) var number = 0
    /// The number of the connection at the server, counted from 1.
    public let connectionNumber: Int
    /// The method, as spelled.
    public let method: String
    /// The request target, as spelled: usually path and query.
    public let target: String
    /// The version, `HTTP/1.1` or `HTTP/1.0`.
    public let version: String
    /// The header fields.
    public let headers: FieldLines
    /// The body, without the chunked coding.
    public internal(set) var body = Data()
    /// The fields after a chunked body.
    public internal(set) var trailers = FieldLines()
    /// Whether the whole body was read. False if the client disconnected, or if the ``RequestBodyPolicy``
    /// does not read it.
    public internal(set) var isComplete = false

    init(connectionNumber: Int, method: String, target: String, version: String, headers: FieldLines) {
        self.connectionNumber = connectionNumber
        self.method = method
        self.target = target
        self.version = version
        self.headers = headers
    }

    // MARK: - Results

    /// The value of a header field, by case-insensitive name; several are joined by a comma and a space.
    public subscript(_ name: String) -> String? { headers[name] }

    /// The target without its query.
    public var path: String {
        target.firstIndex(of: "?").map { String(target[..<$0]) } ?? target
    }

    /// The query after the target's question mark; `nil` if there is none.
    public var query: String? {
        target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
    }

    /// The body as UTF-8 text, with replacement characters for invalid bytes.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Whether the client keeps the connection alive.
    var keepsAlive: Bool {
        if version == "HTTP/1.0" { return headers.list("Connection", contains: "keep-alive") }
        return !headers.list("Connection", contains: "close")
    }

    /// Whether the client waits for a `100 Continue` before it sends the body.
    var expectsContinue: Bool { headers["Expect"]?.lowercased() == "100-continue" }
}

extension ReceivedRequest: CustomStringConvertible {
    /// The method, target, body length and connection number.
    public var description: String {
        "\(method) \(target) (\(body.count) bytes, connection \(connectionNumber))"
    }
}
