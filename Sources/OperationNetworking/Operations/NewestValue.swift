/// A value that is told on a queue, one call at a time: the newest one, if it is another than the last that
/// was told. So a queue that does not keep up hears less, and nothing piles up where it never runs.
///
/// | event            | effect                                                                        |
/// |------------------|-------------------------------------------------------------------------------|
/// | ``offer(_:)``    | schedule a delivery, if none is on its way and there is something to tell      |
/// | a delivery       | ``take()``: what to tell, if anything; then ``hasMore()``: schedule another one |
/// | ``forget()``     | what was not told is not told any more, and what was told may be told again   |
struct NewestValue<Value: Equatable> {
    /// Waits for the queue.
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

    /// Whether another delivery has to be scheduled by the one that ends; if not, it is over.
    mutating func hasMore() -> Bool {
        isScheduled = untold != nil
        return isScheduled
    }

    mutating func forget() {
        (untold, told) = (nil, nil)
    }
}
