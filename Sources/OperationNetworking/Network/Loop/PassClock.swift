internal import OperationNetworkingSystem

/// The time, read once for each pass of the network thread: a system call per piece of a body would be
/// wasted.
final class PassClock {
    private(set) var now = MonotonicTime.now
    /// The number of the pass.
    private(set) var pass: UInt64 = 0
    private let hasWork: () -> Bool
    private var hasEnds = false

    /// - Parameter hasWork: whether other threads want something done.
    init(hasWork: @escaping () -> Bool = { false }) {
        self.hasWork = hasWork
    }

    /// Whether other threads, or ends that are to be told, wait for the end of the pass.
    var isAwaited: Bool { hasEnds || hasWork() }

    /// A transfer ends with this pass, and has to be told.
    func noteEnd() {
        hasEnds = true
    }

    func tick() {
        pass += 1
        hasEnds = false
        now = .now
    }
}
