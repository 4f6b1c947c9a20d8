import Dispatch
internal import OperationNetworkingSystem

/// The callbacks of one task, in order and never two at a time, on any queue.
///
/// | Waiting        | Queue                            | Group              |
/// |----------------|----------------------------------|--------------------|
/// | a closure      | the completion queue, else main  | the session's      |
/// | notifications  | the same                         | none               |
///
/// Notifications of a task without closures that wait for the main queue are bounded: a program may never
/// run it.
final class CallbackLine: Sendable {
    /// The queue and group of the session now.
    typealias Place = @Sendable () -> (queue: DispatchQueue?, group: DispatchGroup?)

    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isScheduled = false
        var hasProgress = false
    }

    private let place: Place
    /// Whether the task has closures.
    private let hasAudience: Bool
    private let state = Locked(State())

    init(hasAudience: Bool, place: @escaping Place) {
        self.hasAudience = hasAudience
        self.place = place
    }

    /// Has `body` called. Callable with a lock held.
    func append(_ body: @escaping @Sendable () -> Void) {
        let isToSchedule = state.withLock { state in
            state.waiting.append(body)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isToSchedule { schedule() }
    }

    /// Has `body` called, which tells the progress as it is then: one that waits already is enough.
    func appendProgress(_ body: @escaping @Sendable () -> Void) {
        let isNew = state.withLock { state in
            defer { state.hasProgress = true }
            return !state.hasProgress
        }
        guard isNew else { return }
        append { [self] in
            state.withLock { $0.hasProgress = false }
            body()
        }
    }

    /// Nothing is appended any more.
    func end() {
        if !hasAudience { UnheardLines.end(self) }
    }

    private func schedule() {
        let (queue, group) = place()
        if queue == nil, !hasAudience { return UnheardLines.append(self) }
        (queue ?? .main).async(group: hasAudience ? group : nil) { self.empty() }
    }

    /// Calls what waits; for what comes meanwhile the line is scheduled again: others want the queue, too.
    fileprivate func empty() {
        let bodies = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for body in bodies { body() }
        let hasMore = state.withLock { state in
            state.isScheduled = !state.waiting.isEmpty
            return state.isScheduled
        }
        if hasMore { schedule() }
    }
}

/// The lines without closures that wait for the main queue: see ``DeliveryLine``.
private enum UnheardLines {
    private static let line = Locked(DeliveryLine<CallbackLine>(limit: 256))

    static func append(_ member: CallbackLine) {
        let isToSchedule = line.withLock { $0.append(member) }
        guard isToSchedule else { return }
        DispatchQueue.main.async {
            for member in line.withLock({ $0.takeAll() }) { member.empty() }
        }
    }

    static func end(_ member: CallbackLine) {
        let released = line.withLock { $0.end(member) }
        withExtendedLifetime(released) {}
    }
}
