import Dispatch

/// The main queue, recognized by a mark: after `dispatchMain()` it is served by other threads than the
/// main one.
enum MainQueue {
    private static let mark: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    /// Whether this thread serves the main queue now.
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) == true }
}
