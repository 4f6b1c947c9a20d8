import COperationNetworking
import Glibc

/// An `epoll` descriptor with sockets in it; see epoll(7). Used on one thread.
package final class SocketPoller {
    /// The events that a socket is watched for, or is ready for.
    package struct Events: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        package static let readable = Events(rawValue: 1)
        package static let writable = Events(rawValue: 2)
        /// Only reported: the other side hung up, or the socket has an error.
        package static let failed = Events(rawValue: 4)
    }

    /// Becomes readable when a socket is ready. Closed with this object; -1 before ``open()``.
    package private(set) var descriptor: Int32 = -1
    private let batch = UnsafeMutablePointer<cepoll_batch>.allocate(capacity: 1)

    package init() {}

    deinit {
        if descriptor >= 0 { close(descriptor) }
        batch.deallocate()
    }

    /// Has to succeed once before anything else.
    /// - Throws: `SystemError` when the process has no descriptors left.
    package func open() throws(SystemError) {
        guard descriptor < 0 else { return }
        descriptor = cepoll_create()
        guard descriptor >= 0 else { throw SystemError(errno, "epoll_create1") }
    }

    /// Watches `socket` from now on, or changes what it is watched for. `token` comes back from ``poll(_:)``.
    ///
    /// libcurl may close a socket and get the same number for the next one before it says so; hence both
    /// orders are tried.
    package func watch(_ socket: Int32, for events: Events, token: UInt64) throws {
        var mask: UInt32 = 0
        if events.contains(.readable) { mask |= EPOLLIN.rawValue }
        if events.contains(.writable) { mask |= EPOLLOUT.rawValue }
        if cepoll_control(descriptor, EPOLL_CTL_MOD, socket, mask, token) == 0 { return }
        guard cepoll_control(descriptor, EPOLL_CTL_ADD, socket, mask, token) == 0 else {
            throw SystemError(errno, "epoll_ctl")
        }
        // The sockets that libcurl makes for its resolver would be inherited by child processes.
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
    }

    /// Watches `socket` no longer. A socket that is closed already has left by itself.
    package func forget(_ socket: Int32) {
        _ = cepoll_control(descriptor, EPOLL_CTL_DEL, socket, 0, 0)
    }

    /// Hands over what is ready now, one batch at most, without waiting; returns how many.
    package func poll(_ body: (_ token: UInt64, _ events: Events) -> Void) -> Int {
        let count = cepoll_poll(descriptor, batch)
        guard count > 0 else { return 0 }
        for index in 0..<count {
            let mask = cepoll_events(batch, index)
            var events: Events = []
            if mask & EPOLLIN.rawValue != 0 { events.insert(.readable) }
            if mask & EPOLLOUT.rawValue != 0 { events.insert(.writable) }
            if mask & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { events.insert(.failed) }
            body(cepoll_token(batch, index), events)
        }
        return Int(count)
    }
}
