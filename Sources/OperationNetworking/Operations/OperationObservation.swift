/// An observer of an operation: what ``ConnectionOperation/addObserver(_:)`` returns.
///
/// It keeps neither of the two. Letting go of it ends nothing; ``end()`` does.
public struct OperationObservation: Sendable {
    private struct Weak: Sendable {
        weak let operation: ConnectionOperation?
        weak let observer: (any OperationObserver)?
    }

    private let pair: Weak

    init(of operation: ConnectionOperation, by observer: any OperationObserver) {
        pair = Weak(operation: operation, observer: observer)
    }

    /// Tells the observer nothing any more, but for the event that it is being told.
    public func end() {
        guard let operation = pair.operation, let observer = pair.observer else { return }
        operation.removeObserver(observer)
    }
}
