import Dispatch
internal import OperationNetworkingSystem

/// The callbacks of one task, in order and never two at a time, on any queue.
///
/// | Waiting        | Queue                            | Group              |
/// |----------------|----------------------------------|--------------------|
/// | a closure      | the completion queue, else main  | the session's      |
/// | notifications  | the same                         | none               |
///
/// Notifications of tasks without closures do not wait for a main queue that never comes: those of the ended
/// tasks before the last 256 come on another queue: see ``UnheardLines``. Nothing is lost.
final class TaskCallbackLine: Sendable {
    /// The queue and group of the session now.
    typealias Place = @Sendable () -> (queue: DispatchQueue?, group: DispatchGroup?)

    private struct State {
        var waiting: [CallbackQueue.Call] = []
        var isScheduled = false
        /// The directions whose progress waits.
        var progress: Set<ProgressDirection> = []
        /// Whether the task has closures.
        var hasAudience: Bool
    }

    private let place: Place
    private let state: Locked<State>

    init(hasAudience: Bool, place: @escaping Place) {
        self.place = place
        state = Locked(State(hasAudience: hasAudience))
    }

    /// The task has got a closure.
    func addAudience() {
        let isWaiting = state.withLock { state in
            defer { state.hasAudience = true }
            return !state.hasAudience && state.isScheduled
        }
        guard isWaiting else { return }
        // A closure has its own queue and group, also if notifications wait for another queue.
        if UnheardLines.remove(self) { schedule() }
    }

    /// Has `body` called. Callable with a lock held.
    func append(_ body: @escaping @Sendable () -> Void) {
        appendCall {
            body()
            return nil
        }
    }

    /// Has a closure of the user's called, where it belongs. Callable with a lock held.
    func appendCall(_ call: @escaping CallbackQueue.Call) {
        let isToSchedule = state.withLock { state in
            state.waiting.append(call)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isToSchedule { schedule() }
    }

    /// Has the progress told, as it is then: one call that waits already is enough.
    func appendProgress(_ direction: ProgressDirection, _ call: @escaping CallbackQueue.Call) {
        guard state.withLock({ $0.progress.insert(direction).inserted }) else { return }
        appendCall { [self] in
            _ = state.withLock { $0.progress.remove(direction) }
            return call()
        }
    }

    /// The task has ended.
    func end() {
        if !state.withLock({ $0.hasAudience }) { UnheardLines.end(self) }
    }

    private func schedule() {
        let (queue, group) = place()
        let hasAudience = state.withLock { $0.hasAudience }
        if queue == nil, !hasAudience { return UnheardLines.append(self) }
        let target = queue ?? .main
        target.async(group: hasAudience ? group : nil) { self.empty(on: target, hasAudience ? group : nil) }
    }

    /// Calls what waits; for what comes meanwhile the line is scheduled again: others want the queue, too.
    /// - Parameters:
    ///   - queue: this one.
    ///   - group: the one that waits for the calls.
    private func empty(on queue: DispatchQueue, _ group: DispatchGroup?) {
        let calls = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        make(calls[...], on: queue, group)
    }

    /// Calls what waits without a group, unless a closure has come: then the line goes where that belongs.
    fileprivate func emptyUnheard(on queue: DispatchQueue) {
        if state.withLock({ $0.hasAudience }) { schedule() } else { empty(on: queue, nil) }
    }

    /// Makes one call after the other; the next one waits until a closure elsewhere has returned.
    private func make(
        _ calls: ArraySlice<CallbackQueue.Call>,
        on queue: DispatchQueue,
        _ group: DispatchGroup?
    ) {
        for (index, call) in zip(calls.indices, calls) {
            guard let detour = call()?.callHere() else { continue }
            group?.enter()
            return detour.call {
                queue.async {
                    self.make(calls[(index + 1)...], on: queue, group)
                    group?.leave()
                }
            }
        }
        let hasMore = state.withLock { state in
            state.isScheduled = !state.waiting.isEmpty
            return state.isScheduled
        }
        if hasMore { schedule() }
    }
}

/// The lines without closures that wait for the main queue.
private enum UnheardLines {
    private static let table = Locked(UnheardTable<TaskCallbackLine>(limit: 256))
    /// The queue of what the main queue was too late for.
    private static let queue = DispatchQueue(label: "OperationNetworking.session.unheard")

    static func append(_ member: TaskCallbackLine) {
        let isToSchedule = table.withLock { $0.append(member) }
        guard isToSchedule else { return }
        DispatchQueue.main.async {
            for member in table.withLock({ $0.takeAll() }) { member.emptyUnheard(on: .main) }
        }
    }

    /// - Returns: whether it was waiting.
    static func remove(_ member: TaskCallbackLine) -> Bool {
        table.withLock { $0.remove(member) }
    }

    static func end(_ member: TaskCallbackLine) {
        guard let oldest = table.withLock({ $0.end(member) }) else { return }
        queue.async { oldest.emptyUnheard(on: queue) }
    }
}
