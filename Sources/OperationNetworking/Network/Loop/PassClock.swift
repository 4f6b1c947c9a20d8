internal import OperationNetworkingSystem

/// The time, read once per pass of the network thread to save a system call per piece of a body.
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

    /// Whether other threads, or ends to be reported, wait for the end of the pass.
    var isAwaited: Bool { isInHurry || isAwaitedElsewhere() }

    /// Notes that a transfer ends with this pass, or may, which has to be reported.
    func hurry() {
        isInHurry = true
    }

    func tick() {
        pass += 1
        isInHurry = false
        now = .now
    }
}
