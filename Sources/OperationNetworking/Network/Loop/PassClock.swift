internal import OperationNetworkingSystem

/// The time, read once for each pass of the network thread: a system call per piece of a body would be
/// wasted.
final class PassClock {
    private(set) var now = MonotonicTime.now
    /// The number of the pass.
    private(set) var pass: UInt64 = 0

    func tick() {
        pass += 1
        now = .now
    }
}
