public import Foundation

extension ConnectionOperation: NSCopying {
    /// A new operation for the same request, with the same settings: what to try again with.
    ///
    /// Results are not copied, nor the closures that hear of the end (`completionBlock`, and those of
    /// `setCompletion`), nor an ``outputStream``, which cannot be used twice, nor the observers that were
    /// added to this operation itself (``addObserver(_:)``).
    ///
    /// The other closures are copied, but all are released after the last callback: set them again on a copy
    /// that is made later than in that callback. A copy always has the manager's challenge closure.
    ///
    /// A copy of a manager's operation is told to the observers and the logger that the manager has when the
    /// copy is made, also when this operation has ended. It does not keep the manager. When the manager is
    /// gone, it is told to those that this operation has of the manager: none after its end.
    public func copy(with zone: NSZone? = nil) -> Any {
        copied()
    }
}

extension ConnectionOperation {
    /// A copy as by `copy()`, with its type: a new operation for the same request, with the same settings.
    public func copied() -> Self {
        let copy = type(of: self).init(request: request)
        copySettings(to: copy)
        return copy
    }
}

// MARK: - CustomReflectable

extension ConnectionOperation: CustomReflectable {
    /// Only the ``description``: `dump` would show fields, bodies and credentials.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
