import Dispatch
internal import OperationNetworkingSystem

/// Calls on a queue, one after the other: the next one waits until a closure that is called elsewhere has
/// returned. Can be used from any thread, with a lock held.
final class CallLine: Sendable {
    /// A call. What it returns still has to be called, where it belongs.
    typealias Call = @Sendable () -> Detour?

    private struct State {
        /// In order; those before `first` are done, and gone.
        var waiting: [Call?] = []
        var first = 0
        var isBusy = false

        mutating func next() -> Call? {
            defer { first += 1 }
            let call = waiting[first]
            waiting[first] = nil
            return call
        }

        mutating func insert(_ call: @escaping Call) {
            waiting.insert(call, at: first)
        }

        /// Whether another one waits; if not, it is over.
        mutating func hasMore() -> Bool {
            guard first < waiting.count else {
                self = State()
                return false
            }
            if first >= 64, 2 * first >= waiting.count {
                waiting.removeFirst(first)
                first = 0
            }
            return true
        }
    }

    /// The number of calls in a row: others want the queue, too.
    private static let turn = 8

    private let queue: DispatchQueue
    private let state = Locked(State())

    init(on queue: DispatchQueue) {
        self.queue = queue
    }

    /// Has `call` called after the others.
    func append(_ call: @escaping Call) {
        if put(call) { queue.async { self.goOn() } }
    }

    /// The same, at once if there are no others; on the queue.
    func appendHere(_ call: @escaping Call) {
        if put(call) { goOn() }
    }

    /// Has `call` called next, before those that wait. For a call, or the closure that it has called.
    func insert(_ call: @escaping Call) {
        state.withLock { $0.insert(call) }
    }

    /// - Returns: whether it is alone.
    private func put(_ call: @escaping Call) -> Bool {
        state.withLock { state in
            state.waiting.append(call)
            defer { state.isBusy = true }
            return !state.isBusy
        }
    }

    private func goOn() {
        for _ in 0..<Self.turn {
            let call = state.withLock { $0.next() }
            if let detour = call?()?.callHere(onMain: MainQueue.isCurrent) {
                return detour.call(from: queue) {
                    if self.goesOn() { self.queue.async { self.goOn() } }
                }
            }
            guard goesOn() else { return }
        }
        queue.async { self.goOn() }
    }

    /// Whether another call waits; if not, the line is free.
    private func goesOn() -> Bool { state.withLock { $0.hasMore() } }
}
