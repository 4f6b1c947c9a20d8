public import Foundation

extension ConnectionOperation: NSCopying {
    /// Returns a new operation for the same request with the same settings, for another attempt.
    ///
    /// These are not copied: the results; `completionBlock` and the closures of `setCompletion`; an
    /// ``outputStream``, which cannot be used twice; and the observers that were added to this operation with
    /// ``addObserver(_:)``.
    ///
    /// The other closures are copied, but all are released after the last callback: set them again on a copy
    /// made after that callback. A copy always has the manager's challenge closure.
    ///
    /// A copy of a manager's operation notifies the observers and the logger that the manager has when the
    /// copy is made, even if this operation has finished. The copy does not retain the manager. If the
    /// manager has been released, the copy notifies the manager's observers that this operation still has:
    /// none after it has finished.
    public func copy(with zone: NSZone? = nil) -> Any {
        copied()
    }
}

extension ConnectionOperation {
    /// Returns a new operation for the same request with the same settings, as `copy()` does, with its type.
    public func copied() -> Self {
        let copy = type(of: self).init(request: request)
        copySettings(to: copy)
        return copy
    }
}

// MARK: - CustomReflectable

extension ConnectionOperation: CustomReflectable {
    /// Only the ``description``, so that `dump` does not show fields, bodies and credentials.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
