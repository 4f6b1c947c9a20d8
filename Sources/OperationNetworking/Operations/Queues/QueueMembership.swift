import Foundation

/// Whether a queue has an operation, as Foundation knows it.
///
/// Foundation tells an operation nothing when it is added, and the property that refers to the queue is
/// internal: it is read by reflection. So this is for finding mistakes, and nothing else rests on it.
enum QueueMembership {
    private static let property = "__queue"

    /// The position of the property among those of `Operation`; `nil`: Foundation has none of this name.
    private static let position = Mirror(reflecting: Operation()).children.enumerated()
        .first { $0.element.label == property }?.offset

    /// Whether a queue has the operation. `false` also where another Foundation does not tell. Calls no code
    /// of a subclass; takes microseconds.
    static func isKnown(of operation: some Operation) -> Bool {
        guard let position else { return false }
        // Not the mirror that it has: that one shows its description.
        let none = EmptyCollection<Mirror.Child>()
        var mirror = Mirror(operation, children: none, ancestorRepresentation: .generated).superclassMirror
        while let current = mirror, current.subjectType != Operation.self {
            mirror = current.superclassMirror
        }
        // No other property is read: a queue may change them on another thread, and some are objects.
        guard let all = mirror?.children, position < all.count else { return false }
        let value = all[all.index(all.startIndex, offsetBy: position)].value
        return unsafe value is Unmanaged<OperationQueue>
    }
}
