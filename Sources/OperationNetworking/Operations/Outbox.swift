import Dispatch

/// The events that wait to be delivered, in order. An append to an idle outbox has to schedule a delivery;
/// the delivery takes all there is, and schedules another one for what came meanwhile. So events stay in
/// order, and never overlap, on concurrent queues as well.
struct Outbox {
    private var deliveries: [Delivery] = []
    private var isScheduled = false
    /// Whether a delivery has begun, and goes on.
    private var isTelling = false
    /// Closures that belong elsewhere, and are called before anything else is told.
    private var detours: [Detour] = []
    /// Entered for what is in here, and for a call that is handed in and made at once.
    private var enteredGroup: DispatchGroup?

    /// Puts a delivery behind the others, and enters `group` until all are delivered, if none is entered.
    /// - Returns: whether the caller has to schedule a delivery.
    mutating func append(_ delivery: Delivery, entering group: DispatchGroup? = nil) -> Bool {
        enter(group)
        switch (delivery, deliveries.last) {
        case (.downloaded(let report), .downloaded(let waiting)?):
            deliveries[deliveries.count - 1] = .downloaded(waiting.merged(with: report))
        case (.uploaded(let report), .uploaded(let waiting)?):
            deliveries[deliveries.count - 1] = .uploaded(waiting.merged(with: report))
        default:
            deliveries.append(delivery)
        }
        defer { isScheduled = true }
        return !isScheduled
    }

    /// Puts a delivery behind the others that waits for the next one, or for ``release()``.
    mutating func hold(_ delivery: Delivery, entering group: DispatchGroup? = nil) {
        let wasScheduled = isScheduled
        deliveries.reserveCapacity(deliveries.count + 2)
        _ = append(delivery, entering: group)
        isScheduled = wasScheduled
    }

    /// Ends the wait of the deliveries that are held.
    /// - Returns: whether the caller has to schedule a delivery.
    mutating func release() -> Bool {
        guard !isScheduled, !deliveries.isEmpty else { return false }
        isScheduled = true
        return true
    }

    /// All that waits.
    mutating func takeAll() -> [Delivery] {
        defer { deliveries = [] }
        isTelling = true
        return deliveries
    }

    /// The turn of a call that is handed in.
    enum Turn {
        /// Nothing waits: the caller makes it, and ends as a delivery does. The group is entered meanwhile.
        case now
        /// The delivery that goes on makes it.
        case afterCallback
        /// Others wait: the caller appends it.
        case afterDeliveries
    }

    mutating func take(_ call: Detour, entering group: DispatchGroup? = nil) -> Turn {
        if isTelling {
            enter(group)
            detours.append(call)
            return .afterCallback
        }
        guard !isScheduled, deliveries.isEmpty else { return .afterDeliveries }
        (isScheduled, isTelling) = (true, true)
        enter(group)
        return .now
    }

    mutating func takeDetour() -> Detour? {
        detours.isEmpty ? nil : detours.removeFirst()
    }

    /// Whether nothing was delivered yet of an operation that has begun.
    var holdsStart: Bool {
        if case .started? = deliveries.first { true } else { false }
    }

    /// Whether the end of the operation waits.
    var holdsEnd: Bool {
        deliveries.contains { if case .finished = $0 { true } else { false } }
    }

    /// Whether another delivery has to be scheduled by the one that ends; if not, it is over.
    mutating func hasMore() -> Bool {
        isTelling = false
        isScheduled = !deliveries.isEmpty
        return isScheduled
    }

    /// The group that is to be left, since everything was delivered.
    mutating func takeGroup() -> DispatchGroup? {
        defer { enteredGroup = nil }
        return enteredGroup
    }

    /// The same at an end without an audience, where only notifications are left; `nil` while a call waits or
    /// is made, which leaves it afterwards.
    mutating func takeGroupAtEnd() -> DispatchGroup? {
        guard enteredGroup != nil, !isTelling else { return nil }
        let isCallWaiting = deliveries.contains { if case .call = $0 { true } else { false } }
        return isCallWaiting ? nil : takeGroup()
    }

    private mutating func enter(_ group: DispatchGroup?) {
        guard enteredGroup == nil else { return }
        group?.enter()
        enteredGroup = group
    }
}
