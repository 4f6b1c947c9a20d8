import COperationNetworking
import Glibc

/// A set of sockets in an `epoll` descriptor; see epoll(7). Used on one thread.
///
/// libcurl stops watching the socket of a connection at the end of each request, and watches it again for the
/// next one. So a forgotten socket stays in the kernel's set until it is ready: watching it again takes one
/// system call, while removing and adding it takes four.
///
/// | State   | `watch` | `forget`                | ready in `poll`       |
/// |---------|---------|-------------------------|-----------------------|
/// | absent  | added   | absent                  | -                     |
/// | watched | changed | idle; writable: removed | reported              |
/// | idle    | changed | idle                    | removed, not reported |
///
/// A closed socket leaves the set by itself, whatever its recorded state.
///
/// The set also contains the ``wakeDescriptor``, by which other threads make it ready.
package final class SocketPoller {
    /// The events for which a socket is watched or ready.
    package struct Events: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        package static let readable = Events(rawValue: 1)
        package static let writable = Events(rawValue: 2)
        /// Only reported: the peer hung up, or the socket has an error.
        package static let failed = Events(rawValue: 4)
    }

    /// Becomes readable when a socket is ready. Closed on deallocation; -1 before ``open()``.
    package private(set) var descriptor: Int32 = -1
    /// Makes ``descriptor`` readable once per signal. A subsequent ``poll(_:)`` or ``hasMore()`` consumes the
    /// signal without reporting an event. `nil` before ``open()``.
    package private(set) var wakeDescriptor: WakeDescriptor?
    /// Whether the last ``poll(_:)`` consumed a signal, whose cause may have occurred just before.
    package private(set) var wasWoken = false
    private let batch = UnsafeMutablePointer<cepoll_batch>.allocate(capacity: 1)
    /// The number of events in `batch` that ``hasMore()`` found and ``poll(_:)`` has not reported.
    private var found: Int32 = 0
    /// By socket number.
    @exclusivity(unchecked) private var notes: [Note] = []

    /// The recorded state of a socket, for ``forget(_:)``.
    private enum Note: UInt8 {
        case none
        case watched
        /// Watched for writing as well: an idle socket would be ready at once.
        case watchedForWriting
        case idle
    }

    /// Differs from any token and socket: socket numbers are not negative.
    private static let wakeData = UInt64.max

    package init() {}

    deinit {
        if descriptor >= 0 { close(descriptor) }
        batch.deallocate()
    }

    /// Must succeed once before anything else.
    /// - Throws: `SystemError` if the process has no descriptors left.
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

    /// Watches `socket`, or changes the events for which it is watched. ``poll(_:)`` reports `token`.
    ///
    /// libcurl may close a socket and reuse its number before it reports the change, so both orders are
    /// tried.
    package func watch(_ socket: Int32, for events: Events, token: UInt32) throws {
        var mask: UInt32 = 0
        if events.contains(.readable) { mask |= EPOLLIN.rawValue }
        if events.contains(.writable) { mask |= EPOLLOUT.rawValue }
        let data = UInt64(token) << 32 | UInt64(UInt32(bitPattern: socket))
        if cepoll_control(descriptor, EPOLL_CTL_MOD, socket, mask, data) != 0 {
            guard cepoll_control(descriptor, EPOLL_CTL_ADD, socket, mask, data) == 0 else {
                throw SystemError(errno, "epoll_ctl")
            }
            // The sockets of libcurl's resolver would otherwise be inherited by child processes.
            _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        }
        note(events.contains(.writable) ? .watchedForWriting : .watched, for: socket)
    }

    /// Stops watching `socket`. A closed socket has already left the set.
    package func forget(_ socket: Int32) {
        switch note(of: socket) {
        case .watched: note(.idle, for: socket)
        case .watchedForWriting: remove(socket)
        case .idle, .none: break
        }
    }

    /// Reports the ready sockets, at most one batch, without waiting.
    /// - Returns: how many; at least 1 if the batch was full, because others may follow idle ones, which are
    ///   not reported.
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

    /// Whether the next ``poll(_:)`` has something to report. If not, the descriptor reports later events,
    /// even edge-triggered.
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
    /// - Parameter mask: the event mask of epoll(7).
    fileprivate init(mask: UInt32) {
        self = []
        if mask & EPOLLIN.rawValue != 0 { insert(.readable) }
        if mask & EPOLLOUT.rawValue != 0 { insert(.writable) }
        if mask & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { insert(.failed) }
    }
}
