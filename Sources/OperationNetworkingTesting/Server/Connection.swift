internal import Foundation

/// One client's connection, served on its own thread: reads requests and sends answers.
struct Connection {
    let number: Int
    let socket: Socket
    let server: ServerCore
    private var parser = RequestParser()
    private let buffer = ReadBuffer()

    init(number: Int, socket: Socket, server: ServerCore) {
        self.number = number
        self.socket = socket
        self.server = server
    }

    // MARK: - Serving

    /// Serves the client until one side ends the connection, and closes the socket.
    mutating func run() {
        var isClientTalking = false
        do throws(AnswerWriter.Interrupted) {
            while let (request, answer) = try nextRequest() {
                let wire = WireAnswer(answer, to: request, current: server.representation(for: request))
                isClientTalking = !request.isComplete
                var writer = AnswerWriter(socket, wire, server: server)
                defer { server.countAnswer() }
                try writer.send(wire)
                if wire.closes { break }
                // A client that waited for `100 Continue` and received another answer does not send its body.
                if !request.isComplete, request.expectsContinue { parser.leaveBody() }
            }
            socket.finish(isClientTalking: isClientTalking)
        } catch {
            switch error {
            case .reset: socket.resetOnClose()
            case .close: socket.finish(isClientTalking: isClientTalking)
            case .gone: break
            }
            if case .reset = error { return socket.close() }
        }
        socket.shutDown()
        socket.close()
    }

    /// The next request and its answer; `nil` at the end of the connection.
    private mutating func nextRequest() throws(AnswerWriter.Interrupted) -> (ReceivedRequest, Answer)? {
        do {
            guard var request = try readHead() else { return nil }
            let policy = server.bodyPolicy.policy(for: request)
            switch policy {
            case .leave where request.isBodyAnnounced: break
            case .read, .hold, .reset, .leave, .each:
                if request.expectsContinue { sendContinue() }
                try readBody(of: &request, policy)
            case .readWithoutContinue:
                try readBody(of: &request, policy)
            }
            return server.answer(to: request)
        } catch let error as AnswerWriter.Interrupted {
            throw error
        } catch {
            server.note("Connection \(number): \(error)")
            var request = ReceivedRequest(
                connectionNumber: number,
                method: "",
                target: "",
                version: "HTTP/1.1",
                headers: [:]
            )
            request.isComplete = false
            return (request, Answer(.message(.text(400, "\(error)\n"))))
        }
    }

    // MARK: - Reading

    private mutating func readHead() throws -> ReceivedRequest? {
        while true {
            if let event = try parser.next() {
                guard case .head(let method, let target, let version, let headers) = event else { continue }
                return ReceivedRequest(
                    connectionNumber: number,
                    method: method,
                    target: target,
                    version: version,
                    headers: headers
                )
            }
            guard readMore() else { return nil }
        }
    }

    /// Reads the body into `request`. If the client disconnects, the partial body is recorded.
    private mutating func readBody(of request: inout ReceivedRequest, _ policy: RequestBodyPolicy) throws {
        var gate: Gate?
        var limit = Int.max
        if case .hold(let count, let opener) = policy { (limit, gate) = (count, opener) }
        if case .reset(let count) = policy { limit = count }
        while true {
            while let event = try parser.next() {
                switch event {
                case .head: continue  // never occurs before the end of the body
                case .body(let data): request.body += data
                case .end(let trailers):
                    request.trailers = trailers
                    request.isComplete = true
                    return
                }
            }
            if request.body.count >= limit {
                limit = .max
                guard let gate else {
                    server.record(request)
                    throw AnswerWriter.Interrupted.reset
                }
                guard try socket.waitForOpening(of: gate) else { throw AnswerWriter.Interrupted.gone }
            }
            guard readMore() else {
                server.record(request)
                throw AnswerWriter.Interrupted.gone
            }
        }
    }

    private mutating func readMore() -> Bool {
        let count = socket.receive(into: buffer.bytes)
        guard count > 0 else { return false }
        parser.append(UnsafeRawBufferPointer(rebasing: buffer.bytes[..<count]))
        return true
    }

    private func sendContinue() {
        let bytes = Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)
        _ = bytes.withUnsafeBytes { socket.send($0) }
    }
}

extension ReceivedRequest {
    /// Whether the header section announces a body.
    fileprivate var isBodyAnnounced: Bool {
        self["Transfer-Encoding"] != nil || (self["Content-Length"] ?? "0") != "0"
    }
}

/// The buffer that a connection reads into.
private final class ReadBuffer {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)

    deinit { bytes.deallocate() }
}
