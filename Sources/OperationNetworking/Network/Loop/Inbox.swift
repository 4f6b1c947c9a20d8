import Dispatch
internal import OperationNetworkingSystem

/// The work posted by other threads, in order.
final class Inbox: Sendable {
    private struct State {
        var work: [NetworkWork] = []
        var isUrgent = false
        var wake: WakeDescriptor?
    }

    private let state = Locked(State())
    /// Signaled while there is no wake descriptor.
    private let firstWork = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - work: the work.
    ///   - isUrgent: whether running bodies yield to it.
    /// - Returns: whether the thread has not opened the inbox yet: it may not exist.
    @discardableResult
    func append(_ work: NetworkWork, isUrgent: Bool = false) -> Bool {
        let (isFirst, wake) = state.withLock { state in
            state.work.append(work)
            if isUrgent { state.isUrgent = true }
            return (state.work.count == 1, state.wake)
        }
        if isFirst {
            if let wake { wake.signal() } else { firstWork.signal() }
        }
        return wake == nil
    }

    /// Blocks until there may be work, or until a time. Not used once the inbox is open.
    func waitForWork(until end: MonotonicTime?) {
        if let end {
            _ = firstWork.wait(timeout: .now() + max(0, end - MonotonicTime.now))
        } else {
            firstWork.wait()
        }
    }

    /// Whether some of the work is urgent.
    var isUrgent: Bool { state.withLock { $0.isUrgent } }

    var isEmpty: Bool { state.withLock { $0.work.isEmpty } }

    /// Removes and returns all work.
    func takeAll() -> [NetworkWork] {
        state.withLock { state in
            defer {
                state.work = []
                state.isUrgent = false
            }
            return state.work
        }
    }

    /// Signals `wake`, on which the inbox is emptied, now and at each append to an empty inbox.
    func open(signaling wake: WakeDescriptor) {
        state.withLock { $0.wake = wake }
        wake.signal()
    }
}
