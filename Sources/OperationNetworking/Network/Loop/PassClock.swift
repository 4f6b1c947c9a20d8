internal import OperationNetworkingSystem

/// The time, read once for each pass of the network thread: a system call per piece of a body would be
/// wasted.
final class PassClock {
    private(set) var now = MonotonicTime.now

    func tick() {
        now = .now
    }
}
