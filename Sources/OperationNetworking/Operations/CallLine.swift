import Dispatch
internal import OperationNetworkingSystem

/// Calls on a queue, one after the other: the next one waits until a closure that is called elsewhere has
/// returned. Can be used from any thread, with a lock held.
final class CallLine: Sendable {
    /// A call. What it returns still has to be called, where it belongs.
    typealias Call = @Sendable () -> Detour?

    private struct State {
        /// In order; those before `first` are done.
        var waiting: [Call] = []
        var first = 0
        var isBusy = false

        mutating func next() -> Call? {
            guard first < waiting.count else {
                self = State()
                return nil
            }
            defer { first += 1 }
            return waiting[first]
        }
    }

    private let queue: DispatchQueue
    private let state = Locked(State())

    init(on queue: DispatchQueue) {
        self.queue = queue
    }

    /// Has `call` called after the others.
    func append(_ call: @escaping Call) {
        let isFirst = state.withLock { state in
            state.waiting.append(call)
            defer { state.isBusy = true }
            return !state.isBusy
        }
        if isFirst { queue.async { self.goOn() } }
    }

    private func goOn() {
        guard let call = state.withLock({ $0.next() }) else { return }
        guard let detour = call(), !detour.callHere(onMain: MainQueue.isCurrent) else {
            // Others want the queue, too.
            return queue.async { self.goOn() }
        }
        detour.call { self.queue.async { self.goOn() } }
    }
}
