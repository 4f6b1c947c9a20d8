import Dispatch
import Foundation
import Glibc
import OperationNetworkingSystem

@testable import OperationNetworkingTesting

/// A scripted proxy in this process: it answers CONNECT, or speaks SOCKS 5, and tunnels to a
/// port of 127.0.0.1.
final class TunnelProxy: Sendable {
    /// The answer to CONNECT.
    enum Answer: Sendable {
        /// 200, and then the bytes of both sides.
        case tunnel
        /// The same, to this port of 127.0.0.1 instead.
        case tunnelTo(UInt16)
        /// These bytes; then the next request is read.
        case reply(String)
        /// These bytes, and the end of the connection.
        case close(String)
        /// Nothing, until the proxy stops.
        case silence
    }

    private enum Speech: Sendable {
        case http(@Sendable (_ number: Int, _ head: String) -> Answer)
        /// With this user and password, or none; every request is answered with the code (RFC 1928 §6).
        case socks5(credentials: [String]?, code: UInt8)
    }

    private struct State: Sendable {
        var requests: [String] = []
        var sockets: [Socket] = []
        var breaksTunnels = false
        var isStopped = false
    }

    /// The answer of an HTTP proxy to a request without credentials.
    static let challenge =
        "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"x\"\r\n"
        + "Content-Length: 2\r\n\r\nno"

    private let listener: ListeningSocket
    private let speech: Speech
    private let state = Locked(State())
    private let threads = DispatchGroup()

    /// An HTTP proxy. `answer` gets the number of the request, from 1 on, and its head.
    convenience init(
        _ answer: @escaping @Sendable (_ number: Int, _ head: String) -> Answer = { _, _ in .tunnel }
    ) throws {
        try self.init(.http(answer))
    }

    /// A SOCKS 5 proxy.
    convenience init(socksUser user: String?, password: String = "", code: UInt8 = 0) throws {
        try self.init(.socks5(credentials: user.map { [$0, password] }, code: code))
    }

    private init(_ speech: Speech) throws {
        self.speech = speech
        listener = try ListeningSocket()
        let (listener, state, threads) = (listener, state, threads)
        try Self.start(threads) {
            while let socket = listener.accept() {
                guard Self.keep(socket, state) else { break }
                try? Self.start(threads) {
                    Visit(socket, speech, state, threads).run()
                    socket.shutDown()
                }
            }
            listener.close()
        }
    }

    deinit { stop() }

    // MARK: - What happened

    var port: Int { listener.port }

    /// The heads of requests to an HTTP proxy; the `host:port` that a SOCKS proxy was asked for.
    var requests: [String] { state.withLock { $0.requests } }

    // MARK: - Commands

    /// From now on a tunnel ends as soon as its client sends something more.
    func breakTunnels() {
        state.withLock { $0.breaksTunnels = true }
    }

    func stop() {
        let sockets = state.withLock { state in
            state.isStopped = true
            return state.sockets
        }
        for socket in sockets { socket.shutDown() }
        listener.shutDown()
        _ = threads.wait(timeout: .now() + 5)
    }

    private static func start(_ threads: DispatchGroup, _ work: @escaping @Sendable () -> Void) throws {
        threads.enter()
        do {
            try SmallThread.start {
                work()
                threads.leave()
            }
        } catch {
            threads.leave()
            throw error
        }
    }

    /// Lets ``stop()`` end it; it lives as long as the proxy.
    private static func keep(_ socket: Socket, _ state: Locked<State>) -> Bool {
        state.withLock { state in
            guard !state.isStopped else { return false }
            state.sockets.append(socket)
            return true
        }
    }

    /// One client's connection.
    private struct Visit {
        let client: Socket
        let speech: Speech
        let state: Locked<State>
        let threads: DispatchGroup

        init(_ client: Socket, _ speech: Speech, _ state: Locked<State>, _ threads: DispatchGroup) {
            (self.client, self.speech, self.state, self.threads) = (client, speech, state, threads)
        }

        func run() {
            switch speech {
            case .http(let answer): speakHTTP(answer)
            case .socks5(let credentials, let code): speakSOCKS(credentials, code)
            }
        }

        // MARK: HTTP

        private static let established = Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8)

        private func speakHTTP(_ answer: (Int, String) -> Answer) {
            while let head = readHead() {
                let number = state.withLock { state in
                    state.requests.append(head)
                    return state.requests.count
                }
                switch answer(number, head) {
                case .tunnel:
                    let target = head.split(separator: " ").dropFirst().first ?? ""
                    guard let port = target.split(separator: ":").last.flatMap({ UInt16($0) }) else { return }
                    return tunnel(to: port, saying: Self.established)
                case .tunnelTo(let port): return tunnel(to: port, saying: Self.established)
                case .reply(let text): send(Array(text.utf8))
                case .close(let text): return send(Array(text.utf8))
                case .silence: return _ = client.waitForHangUp()
                }
            }
        }

        private func readHead() -> String? {
            var octets: [UInt8] = []
            while !octets.suffix(4).elementsEqual("\r\n\r\n".utf8) {
                guard let next = read(1) else { return nil }
                octets += next
            }
            return String(decoding: octets, as: UTF8.self)
        }

        // MARK: SOCKS 5

        private func speakSOCKS(_ credentials: [String]?, _ code: UInt8) {
            guard let start = read(2), start[0] == 5, let methods = read(Int(start[1])) else { return }
            let method: UInt8 = credentials == nil ? 0 : 2
            guard methods.contains(method) else { return send([5, 0xFF]) }
            send([5, method])
            if let credentials {
                guard let user = readText(after: 1), let password = readText(after: 0) else { return }
                let isRight = [user, password] == credentials
                send([1, isRight ? 0 : 1])
                guard isRight else { return }
            }
            guard let request = read(4), let host = readHost(request[3]), let port = read(2) else { return }
            let number = UInt16(port[0]) << 8 | UInt16(port[1])
            state.withLock { $0.requests.append("\(host):\(number)") }
            let reply: [UInt8] = [5, code, 0, 1, 127, 0, 0, 1, 0, 0]
            code == 0 ? tunnel(to: number, saying: reply) : send(reply)
        }

        private func readHost(_ kind: UInt8) -> String? {
            switch kind {
            case 1: read(4).map { $0.map { String($0) }.joined(separator: ".") }
            case 3: readText(after: 0)
            case 4: read(16).map { $0 == [UInt8](repeating: 0, count: 15) + [1] ? "::1" : "IPv6" }
            default: nil
            }
        }

        /// Octets with their number before them.
        private func readText(after skipped: Int) -> String? {
            guard let count = read(skipped + 1)?.last, let octets = read(Int(count)) else { return nil }
            return String(decoding: octets, as: UTF8.self)
        }

        // MARK: Bytes

        private func read(_ count: Int) -> [UInt8]? {
            var octets: [UInt8] = []
            while octets.count < count {
                var piece = [UInt8](repeating: 0, count: count - octets.count)
                let received = piece.withUnsafeMutableBytes { client.receive(into: $0) }
                guard received > 0 else { return nil }
                octets += piece[..<received]
            }
            return octets
        }

        private func send(_ octets: [UInt8]) {
            _ = octets.withUnsafeBytes { client.send($0) }
        }

        private func tunnel(to port: UInt16, saying reply: [UInt8]) {
            guard let server = Self.connect(port), TunnelProxy.keep(server, state) else { return }
            send(reply)
            let client = client
            try? TunnelProxy.start(threads) { Self.pass(from: server, to: client) }
            let state = state
            Self.pass(from: client, to: server) { !state.withLock { $0.breaksTunnels } }
        }

        private static func pass(
            from source: Socket,
            to destination: Socket,
            while continues: () -> Bool = { true }
        ) {
            withUnsafeTemporaryAllocation(byteCount: 16384, alignment: 1) { buffer in
                while true {
                    let count = source.receive(into: buffer)
                    guard count > 0, continues() else { break }
                    _ = destination.send(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                }
            }
            destination.shutDown()
        }

        private static func connect(_ port: UInt16) -> Socket? {
            let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            guard descriptor >= 0 else { return nil }
            let socket = Socket(descriptor: descriptor)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let code = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.connect(descriptor, $0, length)
                }
            }
            return code == 0 ? socket : nil
        }
    }
}
