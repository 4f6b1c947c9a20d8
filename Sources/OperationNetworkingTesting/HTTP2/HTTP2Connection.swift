internal import Foundation

/// The only connection of an HTTP/2 server, on the server's thread.
struct HTTP2Connection {
    private static let preface = Data("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    private let socket: Socket
    private let didOpenStream: () -> Void
    private var answers: [HTTP2Answer]
    private var unread = Data()

    init(_ socket: Socket, _ answers: [HTTP2Answer], didOpenStream: @escaping () -> Void) {
        self.socket = socket
        self.answers = answers
        self.didOpenStream = didOpenStream
    }

    /// Serves the connection until the script or the client ends it.
    mutating func run() {
        while unread.count < Self.preface.count { guard readMore() else { return } }
        guard unread.starts(with: Self.preface) else { return }
        unread = Data(unread.dropFirst(Self.preface.count))
        send([HTTP2Frame(type: HTTP2Frame.settings)])
        while true {
            while let frame = HTTP2Frame.take(from: &unread) {
                guard react(to: frame) else { return }
            }
            guard readMore() else { return }
        }
    }

    /// Returns whether the connection stays open.
    private mutating func react(to frame: HTTP2Frame) -> Bool {
        switch (frame.type, frame.flags & HTTP2Frame.acknowledgment) {
        case (HTTP2Frame.settings, 0):
            send([HTTP2Frame(type: HTTP2Frame.settings, flags: HTTP2Frame.acknowledgment)])
        case (HTTP2Frame.ping, 0):
            let (type, flags) = (HTTP2Frame.ping, HTTP2Frame.acknowledgment)
            send([HTTP2Frame(type: type, flags: flags, payload: frame.payload)])
        case (HTTP2Frame.headers, _):
            didOpenStream()
            guard let answer = answers.first else { return false }
            if answers.count > 1 { answers.removeFirst() }
            return send(answer, on: frame.stream)
        default: break
        }
        return true
    }

    /// Returns whether the connection stays open.
    private func send(_ answer: HTTP2Answer, on stream: UInt32) -> Bool {
        var fields: FieldLines = [":status": "\(answer.status)"]
        for line in answer.fields { fields.append(line.name, line.value) }
        var frames = [
            HTTP2Frame(
                type: HTTP2Frame.headers,
                flags: HTTP2Frame.endHeaders,
                stream: stream,
                payload: HTTP2Frame.fieldBlock(fields)
            )
        ]
        let count: Int
        switch answer.ending {
        case .whole: count = answer.body.count
        case .reset(_, let limit), .goAway(_, let limit), .close(let limit):
            count = min(limit, answer.body.count)
        }
        for start in stride(from: 0, to: count, by: 16384) {
            let piece = answer.body[start..<min(count, start + 16384)].data
            frames.append(HTTP2Frame(type: HTTP2Frame.data, stream: stream, payload: piece))
        }
        if let gate = answer.gate {
            send(frames)
            frames = []
            guard let isOpen = try? socket.waitForOpening(of: gate), isOpen else { return false }
        }
        switch answer.ending {
        case .whole:
            frames.append(HTTP2Frame(type: HTTP2Frame.data, flags: HTTP2Frame.endStream, stream: stream))
        case .reset(let code, _):
            let payload = HTTP2Frame.bytes(of: code)
            frames.append(HTTP2Frame(type: HTTP2Frame.reset, stream: stream, payload: payload))
        case .goAway(let code, _):
            // The last acknowledged stream is the previous one.
            let payload = HTTP2Frame.bytes(of: stream > 1 ? stream - 2 : 0) + HTTP2Frame.bytes(of: code)
            frames.append(HTTP2Frame(type: HTTP2Frame.goAway, payload: payload))
        case .close: break
        }
        send(frames)
        switch answer.ending {
        case .whole, .reset: return true
        case .goAway, .close: return false
        }
    }

    // MARK: - Bytes

    private func send(_ frames: [HTTP2Frame]) {
        let bytes = frames.reduce(into: Data()) { $0 += $1.bytes }
        _ = bytes.withUnsafeBytes { socket.send($0) }
    }

    private mutating func readMore() -> Bool {
        let (socket, end) = (socket, unread.count)
        unread.count = end + 16384
        let count = unread.withUnsafeMutableBytes { bytes in
            socket.receive(into: UnsafeMutableRawBufferPointer(rebasing: bytes[end...]))
        }
        unread.count = end + count
        return count > 0
    }
}
