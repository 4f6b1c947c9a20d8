import Dispatch
internal import OperationNetworkingSystem

/// The events of an operation that are pending on its completion queue.
struct Outbox {
    /// A step of the delivery of an event.
    enum Step {
        /// Observers, notifications, and the methods that a subclass overrides.
        case event(Delivery)
        /// The progress closure.
        case progress(ProgressDirection, ProgressReport)
        /// The completion handlers: success and failure.
        case result
        /// The closure that follows them.
        case completion
        case completionBlock
        /// The release of the closures.
        case release
        /// A call that was handed in.
        case call(Callback)
    }

    /// The steps that follow the last event of an operation.
    static let end: [Step] = [.result, .completion, .completionBlock, .release]

    private var line = CallbackLine<Step>()
    /// Whether something is pending that must not be dropped, and that the group waits for.
    private(set) var isOwed = false
    /// The group that was entered for the contents.
    private var enteredGroup: DispatchGroup?

    /// Appends an event. Enters `group` until everything is delivered, unless a group is already entered.
    /// - Returns: whether the caller has to schedule a turn of the queue.
    mutating func append(
        _ delivery: Delivery,
        isOwed: Bool = false,
        entering group: DispatchGroup? = nil
    ) -> Bool {
        enter(group)
        if isOwed { self.isOwed = true }
        if case .event(let waiting) = line.last, let merged = waiting.merged(with: delivery) {
            line.last = .event(merged)
        } else {
            line.append(.event(delivery))
        }
        return line.schedule()
    }

    /// Appends an event that is held until the next one, or until ``release()``.
    mutating func hold(_ delivery: Delivery, entering group: DispatchGroup? = nil) {
        enter(group)
        line.append(.event(delivery))
    }

    /// Releases the held events.
    /// - Returns: whether the caller has to schedule a turn of the queue.
    mutating func release() -> Bool { line.schedule() }

    /// Appends a call.
    /// - Returns: whether the caller has to schedule a turn of the queue.
    mutating func append(
        _ call: Callback,
        isOwed: Bool = false,
        entering group: DispatchGroup? = nil
    ) -> Bool {
        enter(group)
        if isOwed { self.isOwed = true }
        line.append(.call(call))
        return line.schedule()
    }

    /// Makes a call follow the current step, within a turn.
    /// - Returns: whether a turn is running.
    mutating func makeNext(_ call: Callback, entering group: DispatchGroup? = nil) -> Bool {
        guard line.isMaking else { return false }
        enter(group)
        line.handIn(.call(call))
        return true
    }

    /// Takes the owners of the pending calls, which no longer retain them; none if something is owed, or a turn
    /// makes the calls.
    mutating func takeOwners() -> [any AnyObject & Sendable] {
        guard !isOwed, !line.isMaking else { return [] }
        return line.calls.compactMap {
            if case .call(let callback) = $0 { callback.owner?.withLock { $0.take() } } else { nil }
        }
    }

    /// Makes steps follow the current one, each after the calls that the one before hands in.
    mutating func follow(with steps: [Step]) { line.follow(with: steps) }

    /// Whether nothing is pending and no turn is scheduled.
    var isIdle: Bool { line.isIdle }

    /// Whether the turn has made its steps.
    var isTurnDone: Bool { line.isTurnDone }

    /// Begins a turn of the queue, with everything that is pending.
    mutating func begin() { line.begin() }

    /// Returns the next step, or `nil` at the end of the turn. If ``isScheduled`` is then true, another turn
    /// has to be scheduled.
    mutating func next() -> Step? {
        let step = line.next()
        if step == nil, !line.isScheduled { isOwed = false }
        return step
    }

    /// Whether a turn is scheduled or running.
    var isScheduled: Bool { line.isScheduled }

    /// Whether the start of the operation is still pending.
    var holdsStart: Bool {
        if case .event(.started)? = line.calls.first(where: { _ in true }) { true } else { false }
    }

    /// Whether the end of the operation is pending.
    var holdsEnd: Bool { line.calls.contains { if case .event(.finished) = $0 { true } else { false } } }

    /// Takes the group to leave, because everything has been delivered.
    mutating func takeGroup() -> DispatchGroup? {
        defer { enteredGroup = nil }
        return enteredGroup
    }

    /// Takes the group to leave if there is no audience, and only notifications are pending. `nil` while a
    /// call is owed or running; the group is left after that.
    mutating func takeGroupAtEnd() -> DispatchGroup? {
        isOwed || line.isMaking ? nil : takeGroup()
    }

    private mutating func enter(_ group: DispatchGroup?) {
        guard enteredGroup == nil else { return }
        group?.enter()
        enteredGroup = group
    }
}
