import COperationNetworking
import Glibc

/// An `epoll` descriptor with sockets in it; see epoll(7). Used on one thread.
///
/// libcurl forgets the socket of a connection at the end of each request, and watches it again for the next
/// one on that connection. So a socket that is only forgotten stays in the kernel's set until it is ready: to
/// watch it again takes one system call, where removing and adding it takes four.
///
/// | socket in the set | `watch` | `forget`                | ready in `poll`       |
/// |-------------------|---------|-------------------------|-----------------------|
/// | absent            | added   | absent                  | -                     |
/// | watched           | changed | idle; writable: removed | reported              |
/// | idle              | changed | idle                    | removed, not reported |
///
/// A socket that is closed leaves the set by itself, whatever is noted here.
///
/// One descriptor more is in the set, by which other threads make it ready (``wakeDescriptor``).
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
    /// Makes ``descriptor`` readable once for each signal. A ``poll(_:)`` or ``hasMore()`` after the signal
    /// uses that up, and hands nothing over for it. `nil` before ``open()``.
    package private(set) var wakeDescriptor: WakeDescriptor?
    /// Whether the last ``poll(_:)`` used up a signal: what it was for may have come just before.
    package private(set) var wasWoken = false
    private let batch = UnsafeMutablePointer<cepoll_batch>.allocate(capacity: 1)
    /// The number of events in `batch` that ``hasMore()`` found and ``poll(_:)`` has not handed over.
    private var found: Int32 = 0
    /// By number of the socket.
    private var notes: [Note] = []

    /// The state of a socket, as far as it matters for ``forget(_:)``.
    private enum Note: UInt8 {
        case none
        case watched
        /// Also for writing: an idle one would be ready at once.
        case watchedForWriting
        case idle
    }

    /// Of no token and socket: a socket's number is not negative.
    private static let wakeData = UInt64.max

    package init() {}

    deinit {
        if descriptor >= 0 { close(descriptor) }
        batch.deallocate()
    }

    /// Has to succeed once before anything else.
    /// - Throws: `SystemError` when the process has no descriptors left.
    package func open() throws(SystemError) {
        guard descriptor < 0 else { return }
        let wakeDescriptor = try WakeDescriptor()
        let poller = cepoll_create()
        guard poller >= 0 else { throw SystemError(errno, "epoll_create1") }
        let events = EPOLLIN.rawValue | EPOLLET.rawValue
        guard
            cepoll_control(poller, EPOLL_CTL_ADD, wakeDescriptor.descriptor, events, Self.wakeData) == 0
        else {
            let error = SystemError(errno, "epoll_ctl")
            close(poller)
            throw error
        }
        self.wakeDescriptor = wakeDescriptor
        descriptor = poller
    }

    /// Watches `socket` from now on, or changes what it is watched for. `token` comes back from ``poll(_:)``.
    ///
    /// libcurl may close a socket and get the same number for the next one before it says so; hence both
    /// orders are tried.
    package func watch(_ socket: Int32, for events: Events, token: UInt32) throws {
        var mask: UInt32 = 0
        if events.contains(.readable) { mask |= EPOLLIN.rawValue }
        if events.contains(.writable) { mask |= EPOLLOUT.rawValue }
        let data = UInt64(token) << 32 | UInt64(UInt32(bitPattern: socket))
        if cepoll_control(descriptor, EPOLL_CTL_MOD, socket, mask, data) != 0 {
            guard cepoll_control(descriptor, EPOLL_CTL_ADD, socket, mask, data) == 0 else {
                throw SystemError(errno, "epoll_ctl")
            }
            // The sockets that libcurl makes for its resolver would be inherited by child processes.
            _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        }
        note(events.contains(.writable) ? .watchedForWriting : .watched, for: socket)
    }

    /// Watches `socket` no longer. A socket that is closed already has left by itself.
    package func forget(_ socket: Int32) {
        switch note(of: socket) {
        case .watched: note(.idle, for: socket)
        case .watchedForWriting: remove(socket)
        case .idle, .none: break
        }
    }

    /// Hands over what is ready now, one batch at most, without waiting.
    /// - Returns: how many; 1 at least if the batch was full, because others may be behind idle ones, which
    ///   are not handed over.
    package func poll(_ body: (_ token: UInt32, _ socket: Int32, _ events: Events) -> Void) -> Int {
        let count = found > 0 ? found : cepoll_poll(descriptor, batch)
        found = 0
        wasWoken = false
        guard count > 0 else { return 0 }
        var reported = 0
        for index in 0..<count {
            let data = cepoll_token(batch, index)
            guard data != Self.wakeData else {
                wasWoken = true
                continue
            }
            let socket = Int32(truncatingIfNeeded: data)
            guard note(of: socket) != .idle else {
                remove(socket)
                continue
            }
            reported += 1
            body(UInt32(truncatingIfNeeded: data >> 32), socket, Events(mask: cepoll_events(batch, index)))
        }
        return count == CEPOLL_BATCH ? max(1, reported) : reported
    }

    /// Looks whether the next ``poll(_:)`` has something to hand over. If not, the descriptor reports what
    /// comes from now on, even to a caller that hears of edges only.
    package func hasMore() -> Bool {
        if found == 0 { found = max(0, cepoll_poll(descriptor, batch)) }
        return found > 0
    }

    private func remove(_ socket: Int32) {
        _ = cepoll_control(descriptor, EPOLL_CTL_DEL, socket, 0, 0)
        note(.none, for: socket)
    }

    private func note(of socket: Int32) -> Note {
        socket >= 0 && socket < notes.count ? notes[Int(socket)] : .none
    }

    private func note(_ note: Note, for socket: Int32) {
        guard socket >= 0 else { return }
        if notes.count <= Int(socket) {
            notes.append(contentsOf: repeatElement(.none, count: Int(socket) + 1 - notes.count))
        }
        notes[Int(socket)] = note
    }
}

extension SocketPoller.Events {
    /// - Parameter mask: as epoll(7) reports it.
    fileprivate init(mask: UInt32) {
        self = []
        if mask & EPOLLIN.rawValue != 0 { insert(.readable) }
        if mask & EPOLLOUT.rawValue != 0 { insert(.writable) }
        if mask & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { insert(.failed) }
    }
}
