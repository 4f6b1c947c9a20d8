import Dispatch

/// The main queue, recognized by a mark: after `dispatchMain()` it is served by other threads than the
/// main one.
enum MainQueue {
    private static let mark: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    /// Whether the object stands for it: Foundation makes one each time that it is asked.
    static func isItself(_ queue: DispatchQueue) -> Bool { queue.getSpecific(key: mark) == true }

    /// Whether this thread serves the main queue now.
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) == true }
}

extension DispatchQueue {
    /// Whether both stand for one queue.
    func isSame(as other: DispatchQueue) -> Bool {
        self === other || (MainQueue.isItself(self) && MainQueue.isItself(other))
    }
}
