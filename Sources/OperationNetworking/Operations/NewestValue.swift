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
    private var untold: Value?
    private var told: Value?
    private var isScheduled = false

    /// - Returns: whether the caller has to schedule a delivery.
    mutating func offer(_ value: Value) -> Bool {
        guard value != untold ?? told else { return false }
        untold = value
        defer { isScheduled = true }
        return !isScheduled
    }

    mutating func take() -> Value? {
        defer { untold = nil }
        guard let untold, untold != told else { return nil }
        told = untold
        return untold
    }

    /// Whether the delivery that ends has to schedule another one.
    mutating func hasMore() -> Bool {
        isScheduled = untold != nil
        return isScheduled
    }

    mutating func forget() {
        (untold, told) = (nil, nil)
    }
}
