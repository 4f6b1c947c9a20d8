import Dispatch
internal import OperationNetworkingSystem

/// Pending callbacks, in order. A value that its owner protects with a lock; the owner makes the calls one at
/// a time on its queue.
///
/// Appending to an idle line schedules a turn of the queue. The turn makes the calls that were pending when
/// it began. If more are pending afterwards, it schedules another turn, so that other work can use the queue
/// in between. Calls stay in order and never overlap, even on a concurrent queue.
struct CallbackLine<Call> {
    /// The pending calls; those before `first` have been taken.
    private var waiting: [Call?] = []
    private var first = 0
    /// Calls handed in during a turn, which are made before all others.
    private var handedIn: [Call] = []
    /// Calls that are made after those, and before the pending calls.
    private var following: ArraySlice<Call> = []
    /// The number of pending calls left to make in this turn.
    private var left = 0
    /// Whether a turn is scheduled or running.
    private(set) var isScheduled = false
    /// Whether a turn is running.
    private(set) var isMaking = false

    /// Whether nothing is pending and no turn is scheduled.
    var isIdle: Bool { !isScheduled && isEmpty }

    /// Whether the turn has made its calls.
    var isTurnDone: Bool { handedIn.isEmpty && following.isEmpty && left == 0 }

    private var isEmpty: Bool { first == waiting.count }

    /// The pending calls, in order.
    var calls: some Sequence<Call> { waiting[first...].lazy.compactMap(\.self) }

    /// The last pending call.
    var last: Call? {
        get { isEmpty ? nil : waiting.last ?? nil }
        set { waiting[waiting.count - 1] = newValue }
    }

    /// Appends a call.
    mutating func append(_ call: Call) {
        // Most lines have a start and an end.
        if waiting.isEmpty { waiting.reserveCapacity(2) }
        waiting.append(call)
    }

    /// Within a turn, makes a call follow the one that is being made, after those that were handed in before.
    mutating func handIn(_ call: Call) {
        handedIn.append(call)
    }

    /// Makes calls follow the one that is being made, each after the calls that the one before hands in.
    mutating func follow(with calls: [Call]) {
        following = calls[...]
    }

    /// Notes that a turn is scheduled, if calls are pending and none is scheduled.
    /// - Returns: whether the owner has to schedule it.
    mutating func schedule() -> Bool {
        guard !isScheduled, !isEmpty else { return false }
        isScheduled = true
        return true
    }

    /// Begins a turn, which makes the calls that are pending now, up to `limit`.
    mutating func begin(atMost limit: Int = .max) {
        isMaking = true
        left = min(limit, waiting.count - first)
    }

    /// Returns the next call, or `nil` at the end of the turn. If ``isScheduled`` is then true, the owner
    /// schedules another turn.
    mutating func next() -> Call? {
        if !handedIn.isEmpty { return handedIn.removeFirst() }
        if let call = following.popFirst() { return call }
        guard left > 0 else {
            isMaking = false
            isScheduled = !isEmpty
            return nil
        }
        left -= 1
        let call = waiting[first]
        waiting[first] = nil
        first += 1
        if first == waiting.count {
            waiting.removeAll(keepingCapacity: first < 16)
            first = 0
        } else if first >= 64, 2 * first >= waiting.count {
            waiting.removeFirst(first)
            first = 0
        }
        return call
    }
}

/// A callback line and the queue on which its calls are made. Can be used from any thread, even with a lock
/// held.
final class CallbackQueue: Sendable {
    /// Makes a call. Returns the callback that has to run on another executor, if any.
    typealias Call = @Sendable () -> Callback?

    /// The maximum number of calls in a turn.
    private static let turn = 8

    private let queue: DispatchQueue
    private let line = Locked(CallbackLine<Call>())

    init(on queue: DispatchQueue) {
        self.queue = queue
    }

    /// Makes `call` after the others.
    func append(_ call: @escaping Call) {
        let isToSchedule = line.withLock { line in
            line.append(call)
            return line.schedule()
        }
        if isToSchedule { schedule() }
    }

    private func schedule() {
        MainQueue.noteCallback(on: queue)
        queue.async {
            self.line.withLock { $0.begin(atMost: Self.turn) }
            self.continueTurn()
        }
    }

    private func continueTurn() {
        while true {
            let (call, hasMore) = line.withLock { line in (line.next(), line.isScheduled) }
            guard let call else { return hasMore ? schedule() : () }
            guard let callback = call() else { continue }
            return callback.call {
                MainQueue.noteCallback(on: self.queue)
                self.queue.async { self.continueTurn() }
            }
        }
    }
}
