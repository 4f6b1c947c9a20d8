/// The registration of an observer with an operation, or with all operations of a manager: returned by
/// ``ConnectionOperation/addObserver(_:)``, ``OperationManager/addObserver(_:)`` and
/// ``URLSessionManager/addObserver(_:)``.
///
/// It retains neither the observer nor the observed object, and releasing it does not remove the observer.
/// ``end()`` does, like ``ConnectionOperation/removeObserver(_:)``, but in places where the two objects are
/// not known.
public struct OperationObservation: Sendable {
    private struct Weak: Sendable {
        weak let keeper: (any ObserverKeeper)?
        weak let observer: (any OperationObserver)?
    }

    private let pair: Weak

    // For a manager, `observer` is the relay to the observer.
    init(of keeper: any ObserverKeeper, by observer: any OperationObserver) {
        pair = Weak(keeper: keeper, observer: observer)
    }

    /// Removes the observer. An event that is already being delivered still reaches it.
    public func end() {
        guard let observer = pair.observer else { return }
        pair.keeper?.removeEntry(of: observer)
        // The manager may have been released while its operations run.
        (observer as? ObserverRelay)?.end()
    }
}

/// An object that has observers: an operation or a manager.
protocol ObserverKeeper: AnyObject, Sendable {
    /// Removes this observer or relay, but not the relays to it.
    func removeEntry(of observer: any OperationObserver)
}
