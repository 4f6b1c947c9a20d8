internal import Foundation

/// A socket that listens on a free port of 127.0.0.1.
struct ListeningSocket: Sendable {
    let port: Int
    private let socket: Socket

    /// - Parameter backlog: one less than the maximum number of clients that wait for ``accept()``.
    /// - Throws: the error of the call that failed.
    init(backlog: Int32 = 4096) throws(SocketError) {
        var attempts = 20
        while true {
            do throws(SocketError) {
                self = try Self(waiting: backlog)
                return
            } catch {
                // Two sockets can be bound to the same port before one listens; the second one then fails.
                attempts -= 1
                if error.code != EADDRINUSE || attempts == 0 { throw error }
            }
        }
    }

    private init(waiting backlog: Int32) throws(SocketError) {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = Glibc.socket(AF_INET, kind, 0)
        guard descriptor >= 0 else { throw SocketError("socket") }
        socket = Socket(descriptor: descriptor)
        // Tests open and close thousands of connections, so ports in TIME_WAIT are reused.
        socket.reuseAddress()
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let failure: SocketError? = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                if bind(descriptor, address, length) != 0 { return SocketError("bind") }
                if listen(descriptor, backlog) != 0 { return SocketError("listen") }
                return getsockname(descriptor, address, &length) == 0 ? nil : SocketError("getsockname")
            }
        }
        if let failure { throw failure }
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    /// Waits for a client; `nil` after ``shutDown()``.
    func accept() -> Socket? {
        while true {
            let descriptor = Glibc.accept(socket.descriptor, nil, nil)
            if descriptor >= 0 {
                // accept4 would do it in one step, but the Glibc module does not declare it. A child process
                // that another thread starts between the two calls cannot keep the connection alive, because
                // it is shut down, not only closed.
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                let client = Socket(descriptor: descriptor)
                client.disableDelay()
                return client
            }
            switch errno {
            case EINTR, ECONNABORTED: continue
            case EMFILE, ENFILE, ENOBUFS, ENOMEM:
                // The client waits in the backlog until a descriptor is closed.
                if socket.waitForHangUp(limit: .milliseconds(10)) == .hangUp { return nil }
            default: return nil
            }
        }
    }

    /// Makes ``accept()`` return `nil` from now on. Callable from any thread.
    func shutDown() { socket.shutDown() }

    /// Releases the port. Called only by the accepting thread.
    func close() { socket.close() }
}
