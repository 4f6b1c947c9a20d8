/// A value that is reported on a queue, one call at a time: always the newest value, if it differs from the
/// last one reported. A slow queue receives fewer values, and nothing accumulates if the queue never runs.
///
/// | event            | effect                                                                            |
/// |------------------|-----------------------------------------------------------------------------------|
/// | ``offer(_:)``    | schedule a delivery, if none is scheduled and the value is new                    |
/// | a delivery       | ``take()``: the value to report, if any; then ``hasMore()``: schedule another one |
/// | ``forget()``     | drop the pending value, and allow the last one to be reported again               |
struct NewestValue<Value: Equatable> {
    /// The value that waits for the queue.
    private var pending: Value?
    private var reported: Value?
    private var isScheduled = false

    /// - Returns: whether the caller has to schedule a delivery.
    mutating func offer(_ value: Value) -> Bool {
        guard value != pending ?? reported else { return false }
        pending = value
        defer { isScheduled = true }
        return !isScheduled
    }

    mutating func take() -> Value? {
        defer { pending = nil }
        guard let pending, pending != reported else { return nil }
        reported = pending
        return pending
    }

    /// Whether the delivery that ends has to schedule another one.
    mutating func hasMore() -> Bool {
        isScheduled = pending != nil
        return isScheduled
    }

    mutating func forget() {
        (pending, reported) = (nil, nil)
    }
}
