internal import Foundation

/// A resolved answer to one request: the bytes to send, the interruptions, and what happens to the
/// connection.
struct WireAnswer: Sendable {
    /// Interim responses, status line and header section with its empty line.
    let head: Data
    /// The part of the body that is sent.
    let body: AnswerBody
    /// The chunk size; `nil` sends the body as it is.
    let chunkSize: Int?
    /// The bytes after the body: the last chunk and the trailer section.
    let tail: Data
    let interruptions: [Interruption]
    let bytesPerSecond: Int?
    /// Whether the connection ends with the answer.
    let closes: Bool

    /// Resolves `answer`; `current` is the server's representation for the request's path.
    init(_ answer: Answer, to request: ReceivedRequest, current: Representation?) {
        interruptions = answer.interruptions
        bytesPerSecond = answer.bytesPerSecond
        let message: Message
        switch answer.content {
        case .raw(let bytes):
            let data = bytes.data
            let headEnd = data.range(of: Data("\r\n\r\n".utf8))?.upperBound ?? data.endIndex
            (head, body, chunkSize, tail) = (data[..<headEnd], .data(data[headEnd...]), nil, Data())
            closes = answer.ending != .keepOpen
            return
        case .message(let given): message = given
        case .representation(let representation): message = representation.message(for: request)
        case .currentRepresentation:
            message = current?.message(for: request) ?? .text(404, "Nothing is served at \(request.path).\n")
        }

        let framed = FramedMessage(message, answer, request)
        head = framed.head
        body = framed.hasBody ? message.body : ""
        closes = framed.closes
        switch answer.framing {
        case .chunked(let size, let isTerminated) where framed.hasBody:
            chunkSize = size
            tail = isTerminated ? Data("0\r\n\(answer.trailers.wireText)\r\n".utf8) : Data()
        case .chunked, .contentLength, .untilClose:
            (chunkSize, tail) = (nil, Data())
        }
    }
}

/// The header section of a message, and the resulting framing of the body and the connection.
private struct FramedMessage {
    let head: Data
    let hasBody: Bool
    let closes: Bool

    init(_ message: Message, _ answer: Answer, _ request: ReceivedRequest) {
        let mayHaveBody = message.status >= 200 && message.status != 204 && message.status != 304
        hasBody = mayHaveBody && request.method != "HEAD"
        var fields = message.fields
        var endsWithConnection = false
        switch answer.framing {
        case .contentLength:
            let isFramed = fields["Content-Length"] != nil || fields["Transfer-Encoding"] != nil
            if mayHaveBody, !isFramed { fields.append("Content-Length", "\(message.body.count)") }
        case .chunked(_, let isTerminated):
            let isFramed = fields["Transfer-Encoding"] != nil
            if mayHaveBody, !isFramed { fields.append("Transfer-Encoding", "chunked") }
            endsWithConnection = hasBody && !isTerminated
        case .untilClose:
            endsWithConnection = true
        }
        let saysClose = fields.list("Connection", contains: "close")
        let saysKeepAlive = fields.list("Connection", contains: "keep-alive")
        let isOld = answer.version == "HTTP/1.0"
        let isObvious = endsWithConnection || saysClose || (isOld && !saysKeepAlive)
        let isAnnounced: Bool
        switch answer.ending {
        case .automatic:
            isAnnounced = !isObvious && (!request.keepsAlive || !request.isComplete)
            closes = isObvious || isAnnounced
        case .close(let isToBeAnnounced):
            isAnnounced = isToBeAnnounced
            closes = true
        case .keepOpen:
            isAnnounced = false
            closes = false
        }
        if fields["Connection"] == nil {
            if isAnnounced { fields.append("Connection", "close") }
            if !closes, request.version == "HTTP/1.0" { fields.append("Connection", "keep-alive") }
        }

        var text = ""
        for interim in answer.interim {
            text += "HTTP/1.1 \(interim.status) \(reasonPhrase(of: interim.status))\r\n"
            text += "\(interim.fields.wireText)\r\n"
        }
        text += "\(answer.version) \(message.status) \(answer.reason ?? reasonPhrase(of: message.status))\r\n"
        text += "\(fields.wireText)\r\n"
        head = Data(text.utf8)
    }
}

extension Message {
    /// Creates a plain-text message.
    static func text(_ status: Int, _ text: String) -> Message {
        Message(status: status, fields: ["Content-Type": "text/plain; charset=utf-8"], body: .text(text))
    }
}

extension FieldLines {
    /// The lines as on the wire, each with its line end.
    fileprivate var wireText: String {
        lines.reduce(into: "") { $0 += "\($1.name): \($1.value)\r\n" }
    }
}

/// Returns the reason phrase of [RFC 9110 §15](https://www.rfc-editor.org/rfc/rfc9110#section-15) or a later
/// RFC.
func reasonPhrase(of status: Int) -> String {
    reasonPhrases[status] ?? "Status \(status)"
}

private let reasonPhrases: [Int: String] = [
    100: "Continue", 101: "Switching Protocols", 102: "Processing", 103: "Early Hints",
    200: "OK", 201: "Created", 202: "Accepted", 203: "Non-Authoritative Information", 204: "No Content",
    205: "Reset Content", 206: "Partial Content",
    300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
    307: "Temporary Redirect", 308: "Permanent Redirect",
    400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
    406: "Not Acceptable", 407: "Proxy Authentication Required", 408: "Request Timeout", 409: "Conflict",
    410: "Gone", 411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large",
    414: "URI Too Long", 415: "Unsupported Media Type", 416: "Range Not Satisfiable",
    417: "Expectation Failed", 421: "Misdirected Request", 422: "Unprocessable Content", 425: "Too Early",
    426: "Upgrade Required", 429: "Too Many Requests",
    500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
    504: "Gateway Timeout", 505: "HTTP Version Not Supported",
]
