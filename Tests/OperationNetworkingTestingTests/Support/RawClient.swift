import Foundation
import OperationNetworkingTesting

/// A blocking client that knows nothing of HTTP but where a response ends; it gives up after 5 seconds.
final class RawClient {
    enum Failure: Error, Equatable { case connect, ended, reset, other(Int32) }

    struct Response {
        let head: String
        let body: String

        var status: Int { Int(head.split(separator: " ")[1]) ?? 0 }

        subscript(_ name: String) -> String? {
            let mark = name.lowercased() + ": "
            return head.split(separator: "\r\n").dropFirst().first { $0.lowercased().hasPrefix(mark) }
                .map { String($0.dropFirst(mark.count)) }
        }
    }

    private let descriptor: Int32
    private var unread = Data()

    init(port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var limit = timeval(tv_sec: 5, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result != 0 { throw Failure.connect }  // deinit closes it
    }

    deinit { close(descriptor) }

    // MARK: - Sending

    func send(_ text: String) throws {
        try send(Data(text.utf8))
    }

    func send(_ data: Data) throws {
        let sent = data.withUnsafeBytes {
            Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        if sent != data.count { throw Failure.other(errno) }
    }

    func get(_ target: String = "/", _ fields: String = "") throws {
        try send("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n")
    }

    /// Says that nothing more will be sent.
    func finishSending() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    // MARK: - Receiving

    /// Exactly `count` bytes.
    func receive(_ count: Int) throws -> String {
        String(decoding: try receiveData(count), as: UTF8.self)
    }

    func receiveData(_ count: Int) throws -> Data {
        while unread.count < count { try readMore() }
        defer { unread = Data(unread.dropFirst(count)) }
        return unread.prefix(count)
    }

    /// All up to and with `mark`.
    func receive(through mark: String) throws -> String {
        while true {
            if let range = unread.range(of: Data(mark.utf8)) {
                return try receive(range.upperBound)
            }
            try readMore()
        }
    }

    /// Everything until the server closes the connection.
    func receiveAll() throws -> String {
        while true {
            do { try readMore() } catch Failure.ended { return try receive(unread.count) }
        }
    }

    /// A response with a `Content-Length`, or without a body.
    func response(hasBody: Bool = true) throws -> Response {
        let head = try receive(through: "\r\n\r\n")
        let response = Response(head: head, body: "")
        let length = hasBody ? response["Content-Length"].flatMap(Int.init) ?? 0 : 0
        return Response(head: head, body: try receive(length))
    }

    private func readMore() throws {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count == 0 { throw Failure.ended }
        if count < 0 { throw errno == ECONNRESET ? Failure.reset : Failure.other(errno) }
        unread.append(contentsOf: buffer[..<count])
    }
}

extension ScriptedServer {
    /// The response to one GET on a connection of its own.
    func get(_ target: String = "/", _ fields: String = "") throws -> RawClient.Response {
        let client = try RawClient(port: port)
        try client.get(target, fields)
        return try client.response()
    }
}
