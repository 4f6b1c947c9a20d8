import OperationNetworkingTesting

/// All processes that were started and have not ended.
public final class ChildProcesses: Sendable {
    /// The children of this process.
    public static let shared = ChildProcesses()

    private struct State {
        var running: [Int32: ChildProcess] = [:]
        var isClosed = false
    }

    private let state = Guarded(State())

    /// The number of processes.
    public var count: Int { state.withLock { $0.running.count } }

    /// Kills all of them, waits for their end, and lets no other be started: for a process that is about to
    /// exit. Callable from any thread that may block.
    public func end() {
        let running = state.withLock { state in
            state.isClosed = true
            return state.running.values
        }
        for child in running { child.kill() }
        // One that does not die within seconds, because the kernel has it, must not keep this process.
        for child in running { try? child.ended.waitSynchronously(within: .seconds(2)) }
    }

    /// Adds what `start` starts, in one step with starting it.
    func add(_ start: () throws -> ChildProcess) throws -> ChildProcess {
        try state.withLock { state in
            guard !state.isClosed else { throw CancellationError() }
            let child = try start()
            state.running[child.identifier] = child
            return child
        }
    }

    func remove(_ child: ChildProcess) {
        state.withLock { _ = $0.running.removeValue(forKey: child.identifier) }
    }
}
