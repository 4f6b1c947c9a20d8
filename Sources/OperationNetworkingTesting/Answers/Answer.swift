/// The server's answer to one request: created by one of these functions, and refined by others.
///
/// ```swift
/// let answers: [Answer] = [
///     .respond(200, ["ETag": "\"v1\""], body: "0123456789", breakingAfter: 4),
///     .respond(body: .generated(length: 100 << 20)).chunked().held(after: 1000, by: gate),
///     .raw("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
/// ]
/// ```
///
/// Responses that must not have a body (1xx, 204, 304, and answers to HEAD) are sent without one.
/// `Content-Length`, `Transfer-Encoding` and `Connection` are added where HTTP requires them, unless the
/// script sets them.
public struct Answer: Sendable {
    /// The source of the bytes.
    enum Content: Sendable {
        case message(Message)
        case raw(AnswerBody)
        case representation(Representation)
        case currentRepresentation
    }

    /// The framing of the body, which determines its end.
    enum Framing: Hashable, Sendable {
        case contentLength
        case chunked(size: Int, isTerminated: Bool)
        case untilClose
    }

    /// What happens to the connection after the answer.
    enum Ending: Hashable, Sendable {
        /// By the rules of HTTP.
        case automatic
        /// Announced by an added `Connection: close`.
        case close(isAnnounced: Bool)
        case keepOpen
    }

    var content: Content
    var version = "HTTP/1.1"
    var reason: String?
    var framing = Framing.contentLength
    var trailers = FieldLines()
    var interim: [Message] = []
    var interruptions: [Interruption] = []
    var bytesPerSecond: Int?
    var ending = Ending.automatic

    init(_ content: Content) {
        self.content = content
    }

    // MARK: - Kinds

    /// A response with these fields, in this order and spelling. `Content-Length` is added unless `headers`
    /// contains it or another framing is chosen. `breakingAfter` closes the connection after that number of
    /// body bytes, like ``breaking(after:)``.
    public static func respond(
        _ status: Int = 200,
        _ headers: FieldLines = [:],
        body: AnswerBody = "",
        breakingAfter count: Int? = nil
    ) -> Answer {
        let answer = Answer(.message(Message(status: status, fields: headers, body: body)))
        return count.map { answer.breaking(after: .body($0)) } ?? answer
    }

    /// A redirect with an empty body.
    public static func redirect(to location: String, statusCode: Int = 302) -> Answer {
        .respond(statusCode, ["Location": location])
    }

    /// Arbitrary bytes. Afterwards the connection is closed, or the next request is read. Bytes after the
    /// first empty line count as the body. If the request's body was not read (``RequestBodyPolicy/leave``)
    /// while the client waited for `100 Continue`, it is not read afterwards either.
    public static func raw(_ bytes: AnswerBody, keepingOpen: Bool = false) -> Answer {
        Answer(.raw(bytes)).changed { $0.ending = keepingOpen ? .keepOpen : .close(isAnnounced: false) }
    }

    /// The representation, served by RFC 9110 and its ``Representation/misbehaviors``.
    public static func representation(_ representation: Representation) -> Answer {
        Answer(.representation(representation))
    }

    /// The server's current representation for the request's path, or 404 if there is none; see
    /// ``ScriptedServer/setRepresentation(_:forPath:)``.
    public static var currentRepresentation: Answer { Answer(.currentRepresentation) }

    /// Sends nothing and keeps the connection open: see ``stalling(after:)``. After a release the answer is
    /// an empty 200.
    public static var silence: Answer { .respond().stalling(after: .wire(0)) }

    /// Closes the connection without sending a byte.
    public static var hangUp: Answer { .respond().breaking(after: .wire(0)) }

    /// Resets the connection without sending a byte.
    public static var reset: Answer { .respond().resetting(after: .wire(0)) }

    // MARK: - Refinements

    /// Sends the body in the chunked coding, with `size` bytes per chunk and `trailers` after the last one.
    /// An unterminated body lacks the last chunk: the connection is closed instead.
    public func chunked(
        size: Int = 16384,
        trailers: FieldLines = [:],
        isTerminated: Bool = true
    ) -> Answer {
        precondition(size > 0, "A chunk of \(size) bytes would end the body")
        return changed {
            $0.framing = .chunked(size: size, isTerminated: isTerminated)
            $0.trailers = trailers
        }
    }

    /// Sends no length: the body ends with the connection.
    public func untilClose() -> Answer {
        changed { $0.framing = .untilClose }
    }

    /// Closes the connection after the answer; announces it with `Connection: close` unless `silently` is
    /// true.
    public func closing(silently: Bool = false) -> Answer {
        changed { $0.ending = .close(isAnnounced: !silently) }
    }

    /// Sets the reason phrase, which may be empty.
    public func reason(_ reason: String) -> Answer {
        changed { $0.reason = reason }
    }

    /// Sends `HTTP/1.0` in the status line and closes the connection, unless the script sets keep-alive.
    public func http10() -> Answer {
        changed { $0.version = "HTTP/1.0" }
    }

    /// Sends an interim (1xx) response first; several are sent in the order of the calls.
    public func after(interim status: Int, _ headers: FieldLines = [:]) -> Answer {
        changed { $0.interim.append(Message(status: status, fields: headers, body: "")) }
    }

    /// Sends the body slowly, with a small kernel buffer, so that a reading client has received almost all
    /// bytes that count as sent.
    public func throttled(to bytesPerSecond: Int) -> Answer {
        precondition(bytesPerSecond > 0, "An answer of \(bytesPerSecond) bytes per second never ends")
        return changed { $0.bytesPerSecond = bytesPerSecond }
    }

    func changed(_ change: (inout Answer) -> Void) -> Answer {
        var answer = self
        change(&answer)
        return answer
    }
}

extension Answer: CustomStringConvertible {
    /// A summary of the answer, and the number of its interruptions.
    public var description: String {
        let text =
            switch content {
            case .message(let message): "\(message.status) with \(message.body.count) bytes"
            case .raw(let bytes): "\(bytes.count) raw bytes"
            case .representation(let representation): "a representation of \(representation.body.count) bytes"
            case .currentRepresentation: "the current representation"
            }
        let places = interruptions.map { "\($0.position.unit) byte \($0.position.count)" }
        return places.isEmpty ? text : "\(text), interrupted at \(places.joined(separator: ", "))"
    }
}

/// The content of a response, independent of how it is sent.
struct Message: Sendable {
    var status: Int
    var fields: FieldLines
    var body: AnswerBody
}
