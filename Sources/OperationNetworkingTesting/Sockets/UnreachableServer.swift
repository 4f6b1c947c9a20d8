public import Foundation

/// A port of 127.0.0.1 that never accepts: clients wait indefinitely, as behind a firewall that drops
/// packets. Closed on deallocation.
public final class UnreachableServer: Sendable {
    private let listener: ListeningSocket
    /// A connection that fills the backlog, so that the kernel drops the packets of other clients.
    private let waiting: Socket

    /// Binds a free port.
    ///
    /// - Throws: ``SocketError``.
    public init() throws(SocketError) {
        listener = try ListeningSocket(backlog: 0)
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_INET, kind, 0)
        guard descriptor >= 0 else { throw SocketError("socket") }
        waiting = Socket(descriptor: descriptor)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(listener.port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw SocketError("connect") }
    }

    /// `http://127.0.0.1:port/`.
    public var url: URL {
        guard let url = URL(string: "http://127.0.0.1:\(listener.port)/") else {
            preconditionFailure("There is no URL for port \(listener.port)")
        }
        return url
    }
}
