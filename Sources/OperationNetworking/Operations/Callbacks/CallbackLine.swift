import Dispatch
internal import OperationNetworkingSystem

/// Pending callbacks, in order. A value: its owner guards it with a lock, and makes the calls one at a time on its
/// queue.
///
/// An append to an idle line schedules a turn of the queue. The turn makes the calls that were pending when it
/// began. If more are pending then, it schedules another turn, so that other work gets the queue in between. Calls
/// stay in order and never overlap, also on a concurrent queue.
struct CallbackLine<Call> {
    /// The calls that wait; those before `first` are gone.
    private var waiting: [Call?] = []
    private var first = 0
    /// Calls that are made before all others: they were handed in during a turn.
    private var handedIn: [Call] = []
    /// A call that is made after those, and before the calls that wait.
    private var following: Call?
    /// The number of waiting calls that are made in this turn.
    private var left = 0
    /// Whether a turn is scheduled, or goes on.
    private(set) var isScheduled = false
    /// Whether a turn has begun, and goes on.
    private(set) var isMaking = false

    /// Whether nothing waits, and no turn is scheduled.
    var isIdle: Bool { !isScheduled && isEmpty }

    /// Whether the turn has made its calls.
    var isTurnDone: Bool { handedIn.isEmpty && following == nil && left == 0 }

    private var isEmpty: Bool { first == waiting.count }

    /// The calls that wait, in order.
    var calls: some Sequence<Call> { waiting[first...].lazy.compactMap(\.self) }

    /// The last call that waits.
    var last: Call? {
        get { isEmpty ? nil : waiting.last ?? nil }
        set { waiting[waiting.count - 1] = newValue }
    }

    /// Puts a call behind the others.
    mutating func append(_ call: Call) {
        // Most lines have a start and an end.
        if waiting.isEmpty { waiting.reserveCapacity(2) }
        waiting.append(call)
    }

    /// Within a turn, makes a call follow the one that is being made, after those that were handed in before.
    mutating func handIn(_ call: Call) {
        handedIn.append(call)
    }

    /// Makes a call follow the one that is being made, and what that hands in. There is one at a time: it may set
    /// the next.
    mutating func follow(with call: Call) {
        following = call
    }

    /// Removes calls that wait, outside of a turn.
    /// - Returns: these.
    mutating func removeWaiting(where isRemoved: (Call) -> Bool) -> [Call] {
        let removed = calls.filter(isRemoved)
        waiting = calls.filter { !isRemoved($0) }
        first = 0
        return removed
    }

    /// Schedules a turn, if calls wait and none is scheduled.
    /// - Returns: whether the owner has to schedule it.
    mutating func schedule() -> Bool {
        guard !isScheduled, !isEmpty else { return false }
        isScheduled = true
        return true
    }

    /// A turn begins. It makes the calls that wait now, up to a number of them.
    mutating func begin(atMost limit: Int = .max) {
        isMaking = true
        left = min(limit, waiting.count - first)
    }

    /// The next call; `nil`: the turn is over. If ``isScheduled`` is true then, the owner schedules another turn.
    mutating func next() -> Call? {
        if !handedIn.isEmpty { return handedIn.removeFirst() }
        if let call = following {
            following = nil
            return call
        }
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

/// A callback line and the queue that its calls are made on. Any thread may use it, also while it holds a lock.
final class CallbackQueue: Sendable {
    /// Makes a call. What it returns has to be called elsewhere.
    typealias Call = @Sendable () -> Callback?

    /// The number of calls in a turn.
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
        queue.async {
            self.line.withLock { $0.begin(atMost: Self.turn) }
            self.goOn()
        }
        MainQueue.noteCallback(on: queue)
    }

    private func goOn() {
        while true {
            let (call, hasMore) = line.withLock { line in (line.next(), line.isScheduled) }
            guard let call else { return hasMore ? schedule() : () }
            if let callback = call() { return callback.call { self.queue.async { self.goOn() } } }
        }
    }
}
