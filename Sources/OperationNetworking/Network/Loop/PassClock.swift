internal import OperationNetworkingSystem

/// The time, read once for each pass of the network thread: a system call per piece of a body would be
/// wasted.
final class PassClock {
    private(set) var now = MonotonicTime.now
    /// The number of the pass.
    private(set) var pass: UInt64 = 0
    private let isAwaitedElsewhere: () -> Bool
    private var isInHurry = false

    /// - Parameter isAwaited: whether another thread waits for the end of the pass.
    init(isAwaited: @escaping () -> Bool = { false }) {
        isAwaitedElsewhere = isAwaited
    }

    /// Whether other threads, or ends that are to be told, wait for the end of the pass.
    var isAwaited: Bool { isInHurry || isAwaitedElsewhere() }

    /// A transfer ends with this pass, or may, and has to be told.
    func hurry() {
        isInHurry = true
    }

    func tick() {
        pass += 1
        isInHurry = false
        now = .now
    }
}
