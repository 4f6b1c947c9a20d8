/// An observer of an operation, or of all operations of a manager: what
/// ``ConnectionOperation/addObserver(_:)``, ``OperationManager/addObserver(_:)`` and
/// ``URLSessionManager/addObserver(_:)`` return.
///
/// It keeps neither of the two. Letting go of it ends nothing; ``end()`` does, as
/// ``ConnectionOperation/removeObserver(_:)``, which needs both of them where the observer is removed: this
/// is enough alone, and may be kept where they are not known.
public struct OperationObservation: Sendable {
    private struct Weak: Sendable {
        weak let keeper: (any ObserverKeeper)?
        weak let observer: (any OperationObserver)?
    }

    private let pair: Weak

    // A manager gives the relay to the observer.
    init(of keeper: any ObserverKeeper, by observer: any OperationObserver) {
        pair = Weak(keeper: keeper, observer: observer)
    }

    /// Tells the observer nothing any more, but for the event that it is being told.
    public func end() {
        guard let observer = pair.observer else { return }
        pair.keeper?.removeEntry(of: observer)
        // The manager may be gone while its operations run.
        (observer as? ObserverRelay)?.end()
    }
}

/// An object that tells observers, and keeps them for that: an operation, or a manager.
protocol ObserverKeeper: AnyObject, Sendable {
    /// Removes this observer or relay, and none that leads to it.
    func removeEntry(of observer: any OperationObserver)
}
