/// The server's answer to one request: a value, made by one of the functions here and refined by others.
///
/// ```swift
/// let answers: [Answer] = [
///     .respond(200, ["ETag": "\"v1\""], body: "0123456789", breakingAfter: 4),
///     .respond(body: .generated(length: 100 << 20)).chunked().held(after: 1000, by: gate),
///     .raw("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
/// ]
/// ```
///
/// What may not have a body (1xx, 204, 304, and whatever answers HEAD) is sent without it. `Content-Length`,
/// `Transfer-Encoding` and `Connection` are added where HTTP needs them, unless the script gives them itself.
public struct Answer: Sendable {
    /// The source of the bytes.
    enum Content: Sendable {
        case message(Message)
        case raw(AnswerBody)
        case representation(Representation)
        case currentRepresentation
    }

    /// The framing of the body, which tells its end.
    enum Framing: Hashable, Sendable {
        case contentLength
        case chunked(size: Int, isTerminated: Bool)
        case untilClose
    }

    /// The fate of the connection afterwards.
    enum Ending: Hashable, Sendable {
        /// As HTTP has it.
        case automatic
        /// Announced: with a `Connection: close` of ours.
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

    /// A response with these fields, in this order and spelling. `Content-Length` is added, unless `headers`
    /// has it or another framing is asked for. With a `breakingAfter`, the connection is closed after that
    /// number of bytes of the body, as by ``breaking(after:)``.
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

    /// The bytes as given, whatever they are; then the connection is closed, or the next request awaited.
    /// What follows the first empty line counts as body. If the request's body was left
    /// (``RequestBodyPolicy/leave``) while the client waited for `100 Continue`, none of it is awaited.
    public static func raw(_ bytes: AnswerBody, keepingOpen: Bool = false) -> Answer {
        Answer(.raw(bytes)).changed { $0.ending = keepingOpen ? .keepOpen : .close(isAnnounced: false) }
    }

    /// The representation, served as RFC 9110 and its ``Representation/misbehaviors`` have it.
    public static func representation(_ representation: Representation) -> Answer {
        Answer(.representation(representation))
    }

    /// The representation that the server has for the request's path when it answers; see
    /// ``ScriptedServer/setRepresentation(_:forPath:)``. Without one: 404.
    public static var currentRepresentation: Answer { Answer(.currentRepresentation) }

    /// Nothing, with the connection open: see ``stalling(after:)``. After a release the answer is an
    /// empty 200.
    public static var silence: Answer { .respond().stalling(after: .wire(0)) }

    /// The end of the connection, without a byte.
    public static var hangUp: Answer { .respond().breaking(after: .wire(0)) }

    /// A reset of the connection, without a byte.
    public static var reset: Answer { .respond().resetting(after: .wire(0)) }

    // MARK: - Refinements

    /// Sends the body in the chunked coding, `size` bytes a chunk, with `trailers` after the last one.
    /// Without being terminated, it lacks the last chunk: the connection is closed instead.
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

    /// Sends no length: the end of the connection is the end of the body.
    public func untilClose() -> Answer {
        changed { $0.framing = .untilClose }
    }

    /// Closes the connection after the answer, and says so with `Connection: close` unless `silently`.
    public func closing(silently: Bool = false) -> Answer {
        changed { $0.ending = .close(isAnnounced: !silently) }
    }

    /// Puts this text, which may be empty, after the status code.
    public func reason(_ reason: String) -> Answer {
        changed { $0.reason = reason }
    }

    /// Says `HTTP/1.0` in the status line and, unless the script says keep-alive, closes the connection.
    public func http10() -> Answer {
        changed { $0.version = "HTTP/1.0" }
    }

    /// Sends an interim (1xx) response before; several are sent in the order in which they are asked for.
    public func after(interim status: Int, _ headers: FieldLines = [:]) -> Answer {
        changed { $0.interim.append(Message(status: status, fields: headers, body: "")) }
    }

    /// Sends the body slowly, and keeps little of it in the kernel: a client that reads has almost everything
    /// that counts as sent.
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
    /// The answer, and the number of its interruptions, in a few words.
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

/// The parts of a response that depend on what is answered, not on how it is sent.
struct Message: Sendable {
    var status: Int
    var fields: FieldLines
    var body: AnswerBody
}
