import Dispatch

/// The events of an operation that wait for its completion queue.
struct Outbox {
    /// A step of telling an event.
    enum Step {
        /// Observers, notifications, and the methods that a subclass overrides.
        case event(Delivery)
        /// The closure for progress.
        case progress(ProgressDirection, ProgressReport)
        /// The closures for the result: success and failure.
        case result
        /// The closure that follows these.
        case completion
        case completionBlock
        /// Of the closures.
        case release
        /// A call that was handed in.
        case call(Callback)
    }

    private var line = CallbackLine<Step>()
    /// Entered for what is in here.
    private var enteredGroup: DispatchGroup?

    /// Puts an event behind the others, and enters `group` until all are told, if none is entered.
    /// - Returns: whether the caller has to schedule a turn of the queue.
    mutating func append(_ delivery: Delivery, entering group: DispatchGroup? = nil) -> Bool {
        enter(group)
        if case .event(let waiting) = line.last, let merged = waiting.merged(with: delivery) {
            line.last = .event(merged)
        } else {
            line.append(.event(delivery))
        }
        return line.schedule()
    }

    /// Puts an event behind the others that waits for the next one, or for ``release()``.
    mutating func hold(_ delivery: Delivery, entering group: DispatchGroup? = nil) {
        enter(group)
        line.append(.event(delivery))
    }

    /// Ends the wait of the events that are held.
    /// - Returns: whether the caller has to schedule a turn of the queue.
    mutating func release() -> Bool { line.schedule() }

    /// Puts a call behind what waits.
    /// - Returns: whether the caller has to schedule a turn of the queue.
    mutating func append(_ call: Callback, entering group: DispatchGroup? = nil) -> Bool {
        enter(group)
        line.append(.call(call))
        return line.schedule()
    }

    /// Within a turn, makes a call follow the step that is being made.
    /// - Returns: whether there is a turn.
    mutating func makeNext(_ call: Callback, entering group: DispatchGroup? = nil) -> Bool {
        guard line.isMaking else { return false }
        enter(group)
        line.handIn(.call(call))
        return true
    }

    /// The calls that wait, which are never made.
    mutating func takeCalls() -> [Step] {
        line.removeWaiting { if case .call = $0 { true } else { false } }
    }

    /// Makes a step follow the one that is being made, and what that hands in.
    mutating func follow(with step: Step) { line.follow(with: step) }

    /// Whether nothing waits, and no turn is scheduled.
    var isIdle: Bool { line.isIdle }

    /// Whether the turn has made its steps.
    var isTurnDone: Bool { line.isTurnDone }

    /// A turn of the queue begins, with all that waits.
    mutating func begin() { line.begin() }

    /// The next step of the turn; `nil`: it is over. Another one is to be scheduled then if ``isScheduled``.
    mutating func next() -> Step? { line.next() }

    /// Whether a turn is scheduled, or goes on.
    var isScheduled: Bool { line.isScheduled }

    /// Whether nothing was told yet of an operation that has begun.
    var holdsStart: Bool {
        if case .event(.started)? = line.calls.first(where: { _ in true }) { true } else { false }
    }

    /// Whether the end of the operation waits.
    var holdsEnd: Bool { line.calls.contains { if case .event(.finished) = $0 { true } else { false } } }

    /// The group that is to be left, since everything was told.
    mutating func takeGroup() -> DispatchGroup? {
        defer { enteredGroup = nil }
        return enteredGroup
    }

    /// The same at an end without an audience, where only notifications are left; `nil` while a call waits or
    /// is made, which leaves it afterwards.
    mutating func takeGroupAtEnd() -> DispatchGroup? {
        guard enteredGroup != nil, !line.isMaking else { return nil }
        let isCallWaiting = line.calls.contains { if case .call = $0 { true } else { false } }
        return isCallWaiting ? nil : takeGroup()
    }

    private mutating func enter(_ group: DispatchGroup?) {
        guard enteredGroup == nil else { return }
        group?.enter()
        enteredGroup = group
    }
}
