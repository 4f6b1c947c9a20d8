import Dispatch
internal import OperationNetworkingSystem

/// The destination of a ``SinkWriter``. Used on one queue, where every method may block.
protocol SinkDestination: AnyObject {
    /// Whether written bytes can be taken back; accurate once the destination is open.
    var canBeEmptied: Bool { get }

    /// Whether an early end writes the bytes received so far, and waits for that. Otherwise they are dropped.
    var keepsRest: Bool { get }

    /// Opens the destination, and empties it if possible.
    /// - Returns: `false` if it cannot be opened now, but may be later.
    func open() throws -> Bool

    /// Takes back the written bytes.
    func empty() throws

    /// - Returns: the number of bytes written; 0 if there is no room now.
    func write(_ bytes: Span<UInt8>) throws -> Int

    /// The descriptor that becomes writable when there is room again; `nil` if there is none.
    var pollableDescriptor: Int32? { get }

    /// Calls `body` once, on any thread, when there is room again.
    /// - Returns: `false` if the destination does not support that.
    func whenRoom(_ body: @escaping @Sendable () -> Void) -> Bool

    func close() throws
}

extension SinkDestination {
    var pollableDescriptor: Int32? { nil }

    func whenRoom(_ body: @escaping @Sendable () -> Void) -> Bool { false }
}

/// Writes to a destination on a dedicated queue, so that no other thread waits for it. ``SinkState`` decides;
/// this class acts.
///
/// Commands may come from any thread.
final class SinkWriter: @unchecked Sendable {
    // @unchecked: `destination`, `roomSource` and `watchedBlock` are used on `queue` only; what both sides
    // touch is in `shared`. `hand` changes on `queue` and under the lock of `shared`, and is read on `queue`
    // or under that lock.

    /// The maximum seconds for which abandoning waits for the rest to be written.
    private static let closeTimeout = 2.0
    /// The minimum and maximum seconds between two tries with a full destination that cannot report when it
    /// has room.
    private static let retryInterval = (shortest: 0.001, longest: 0.05)

    typealias End = @Sendable (Result<Void, any Error>) -> Void

    private struct Shared {
        var state: SinkState
        var failure: (any Error)?
        var onChange: (@Sendable () -> Void)?
        var end: End?
        var whenStopped: (@Sendable () -> Void)?
        /// The owner's tasks, in order.
        var tasks: [@Sendable () -> Void] = []

        var result: Result<Void, any Error> { failure.map { .failure($0) } ?? .success(()) }
    }

    private let destination: any SinkDestination
    private let keepsRest: Bool
    private let queue = DispatchQueue(label: "OperationNetworking.SinkWriter")
    private let shared: Locked<Shared>
    /// The bytes being written.
    private var hand: [UInt8] = []
    private var roomSource: (any DispatchSourceWrite)?
    /// The number of the block (the period without room) that the source is for.
    private var watchedBlock = 0

    init(_ destination: any SinkDestination) {
        self.destination = destination
        keepsRest = destination.keepsRest
        shared = Locked(Shared(state: SinkState(canBeEmptied: destination.canBeEmptied)))
    }

    // MARK: - State

    var count: Int64 { shared.withLock { $0.state.count } }
    var isFull: Bool { shared.withLock { $0.state.isFull } }
    var canBeEmptied: Bool { shared.withLock { $0.state.canBeEmptied } }
    var failure: (any Error)? { shared.withLock { $0.failure } }

    /// See ``SinkState/keptCount``.
    var keptCount: Int {
        get { shared.withLock { $0.state.keptCount } }
        set { shared.withLock { $0.state.keptCount = newValue } }
    }

    /// Returns the last accepted bytes: at most `count`, and at least as many as are kept.
    func lastBytes(_ count: Int) -> [UInt8] {
        shared.withLock { $0.state.lastBytes(count, hand) }
    }

    /// Called, on any thread, when a full writer has room again, and when it fails.
    var onChange: (@Sendable () -> Void)? {
        get { shared.withLock { $0.onChange } }
        set { shared.withLock { $0.onChange = newValue } }
    }

    // MARK: - Commands

    func begin() throws {
        try command { shared in
            shared.state.begin()
            return false
        }
    }

    func append(_ bytes: Span<UInt8>) throws {
        let now = MonotonicTime.now
        let (urgency, failure) = shared.withLock { shared in
            (shared.state.append(bytes, now: now), shared.failure)
        }
        if let failure { throw failure }
        obey(urgency)
    }

    private func obey(_ urgency: WritePace.Urgency) {
        switch urgency {
        case .none:
            break
        case .after(let seconds):
            queue.asyncAfter(deadline: .now() + seconds) { [weak self] in
                guard let self else { return }
                obey(shared.withLock { $0.state.timerDidFire(now: .now) })
            }
        case .now:
            schedule()
        }
    }

    func empty() throws {
        try command { shared in
            // A FIFO or a terminal is recognized only when it is open.
            guard shared.state.canBeEmptied else { throw ResumeError.representationChanged }
            return shared.state.empty()
        }
    }

    /// Performs `task` on the queue, after the bytes accepted so far have been written, and before the destination is
    /// closed; if it is closed already, at once.
    func perform(_ task: @escaping @Sendable () -> Void) {
        let (mustWork, isClosed) = shared.withLock { shared in
            guard shared.state.phase != .closed else { return (false, true) }
            shared.tasks.append(task)
            return (shared.state.perform(), false)
        }
        if isClosed { queue.async(execute: task) }
        if mustWork { schedule() }
    }

    /// Drops the bytes that have not been written.
    func dropRest() {
        shared.withLock { $0.state.dropRest() }
    }

    /// Finishes, and calls `then` when everything is written and the destination is closed.
    func end(_ then: @escaping End) {
        let (mustWork, result) = shared.withLock { shared in
            guard shared.state.phase != .closed else {
                return (false, shared.result as Result<Void, any Error>?)
            }
            shared.end = then
            return (shared.state.end(), nil)
        }
        if mustWork { schedule() }
        if let result { then(result) }
    }

    /// Abandons the rest.
    /// - Returns: whether the writer has stopped. If not, `whenStopped` is called, once, when it has, or
    ///   after a time limit.
    func abandon(_ whenStopped: (@Sendable () -> Void)?) -> Bool {
        let (mustWork, isBlocked, isStopped) = shared.withLock { shared in
            shared.end = nil
            let mustWork = shared.state.abandon(keepsRest: keepsRest)
            let isStopped = !keepsRest || shared.state.phase == .closed
            if !isStopped, let whenStopped { shared.whenStopped = whenStopped }
            return (mustWork, shared.state.phase == .blocked, isStopped)
        }
        if mustWork { schedule() }
        if isBlocked { queue.async { self.unblock(nil) } }
        if !isStopped, whenStopped != nil {
            DispatchQueue.global().asyncAfter(deadline: .now() + Self.closeTimeout) { [weak self] in
                self?.stopWaiting()
            }
        }
        return isStopped
    }

    private func stopWaiting() {
        let whenStopped = shared.withLock { shared in
            shared.state.dropRest()
            defer { shared.whenStopped = nil }
            return shared.whenStopped
        }
        whenStopped?()
    }

    private func command(_ body: (inout Shared) throws -> Bool) throws {
        let mustWork = try shared.withLock { shared in
            if let failure = shared.failure { throw failure }
            return try body(&shared)
        }
        if mustWork { schedule() }
    }

    /// Not called under the lock, which the queue takes first.
    private func schedule() {
        queue.async { self.work() }
    }

    // MARK: - On the queue

    private func work() {
        while true {
            let step = shared.withLock { $0.state.next(&hand) }
            do {
                switch step {
                case .open:
                    guard try destination.open() else {
                        guard waitForRoom() else { continue }
                        return
                    }
                    shared.withLock { $0.state.didOpen(canBeEmptied: destination.canBeEmptied) }
                case .empty:
                    try destination.empty()
                    shared.withLock { $0.state.didEmpty() }
                case .write(let range):
                    let written = try destination.write(hand.span.extracting(range))
                    guard written > 0 else {
                        guard waitForRoom() else { continue }
                        return
                    }
                    didWrite(min(written, range.count))
                case .perform:
                    let task = shared.withLock { $0.tasks.removeFirst() }
                    task()
                case .close:
                    return close()
                case .rest:
                    return
                }
            } catch {
                fail(error)
            }
        }
    }

    private func didWrite(_ count: Int) {
        let onChange = shared.withLock { $0.state.didWrite(count) ? $0.onChange : nil }
        onChange?()
    }

    private func fail(_ error: any Error) {
        let onChange = shared.withLock { shared in
            shared.failure = error
            shared.state.didFail()
            return shared.onChange
        }
        onChange?()
    }

    private func close() {
        let error: (any Error)?
        do {
            try destination.close()
            error = nil
        } catch let failure {
            error = failure
        }
        let (result, end, whenStopped) = shared.withLock { shared in
            hand = []
            if shared.failure == nil, let error {
                shared.failure = error
                shared.state.didFail()
            }
            shared.state.didClose()
            defer {
                shared.end = nil
                shared.whenStopped = nil
                shared.onChange = nil
            }
            return (shared.result, shared.end, shared.whenStopped)
        }
        end?(result)
        whenStopped?()
    }

    // MARK: - Waiting for room

    /// - Returns: whether to wait; `false` to continue with the next step.
    private func waitForRoom() -> Bool {
        let wait = shared.withLock { shared in
            shared.state.didFindNoRoom()
                ? (block: shared.state.block, tries: shared.state.fruitlessTries) : nil
        }
        guard let wait else { return false }
        let isNotified = destination.whenRoom { [weak self] in
            guard let self else { return }
            queue.async { self.unblock(wait.block) }
        }
        if isNotified { return true }
        if let descriptor = destination.pollableDescriptor { watch(descriptor, wait.block) }
        // A write source does not fire when the reader of a full pipe goes away, so a timer is needed there,
        // too.
        let interval =
            roomSource == nil
            ? Self.retryInterval.shortest * Double(1 << min(wait.tries - 1, 10)) : Self.retryInterval.longest
        queue.asyncAfter(deadline: .now() + min(interval, Self.retryInterval.longest)) { [weak self] in
            self?.unblock(wait.block)
        }
        return true
    }

    private func watch(_ descriptor: Int32, _ block: Int) {
        let source = DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler { source.cancel() }
        // The descriptor must not be closed before this.
        source.setCancelHandler {
            self.roomSource = nil
            self.tryAgain(block)
        }
        roomSource = source
        watchedBlock = block
        source.resume()
    }

    /// Ends the wait for room.
    /// - Parameter block: the number of the block; `nil` for the current one.
    private func unblock(_ block: Int?) {
        guard let roomSource else { return tryAgain(block) }
        // Its handler tries again. A timer of an earlier block does not end this one.
        if block == nil || block == watchedBlock { roomSource.cancel() }
    }

    private func tryAgain(_ block: Int?) {
        if shared.withLock({ $0.state.tryAgain(block) }) { work() }
    }
}
