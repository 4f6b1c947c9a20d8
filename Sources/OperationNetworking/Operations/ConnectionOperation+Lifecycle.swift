import Dispatch
import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

extension ConnectionOperation {
    /// Serializers and redirect closures run here: never on the network thread, and never on main.
    static let processingQueue = DispatchQueue(
        label: "OperationNetworking.processing",
        attributes: .concurrent
    )

    /// The one function that changes the state.
    func apply(_ event: (inout OperationState) -> OperationStateMachine.Effect) {
        let (effect, hasBecomeCancelled, target) = state.withLock { state in
            let wasCancelled = state.machine.isCancelled
            let effect = event(&state)
            let target = post(effect, &state)
            return (effect, wasCancelled != state.machine.isCancelled, target)
        }
        if let target { scheduleDelivery(target) }
        announce(effect, hasBecomeCancelled: hasBecomeCancelled)
    }

    /// Under the lock, so that a stop can never overtake its start.
    private func post(_ effect: OperationStateMachine.Effect, _ state: inout OperationState)
        -> DeliveryTarget?
    {
        switch effect {
        case .none, .announceReadiness:
            return nil
        case .begin:
            let exchange = state.exchange ?? makeExchange(state)
            state.exchange = exchange
            if state.runLoopModes != [.common] { NetworkThread.shared.add(modes: state.runLoopModes) }
            NetworkThread.shared.perform { exchange.begin($0, for: self) }
            state.isRunning = true
            defer { state.hasBegun = true }
            return state.append(state.hasBegun ? .resumed : .started)
        case .suspend:
            let exchange = state.exchange
            NetworkThread.shared.perform { exchange?.suspend($0) }
            state.isRunning = false
            return state.append(.paused)
        case .abandon:
            // It may have been paused before it began.
            let exchange = state.exchange ?? makeExchange(state)
            state.exchange = exchange
            NetworkThread.shared.perform { exchange.cancel($0, for: self) }
            return nil
        case .finishCancelled:
            state.error = URLError.cancelled(url: state.request.url)
            return nil
        case .finish:
            return nil
        }
    }

    /// Whether somebody may have overridden what is there to be overridden.
    private var hasHooks: Bool {
        let kind = ObjectIdentifier(type(of: self))
        return kind != ObjectIdentifier(ConnectionOperation.self)
            && kind != ObjectIdentifier(HTTPRequestOperation.self)
    }

    private func makeExchange(_ state: OperationState) -> Exchange {
        var configuration = exchangeConfiguration(state)
        configuration.givesPieces = Self.receivesPieces
        return Exchange(configuration)
    }

    /// After the lock is released: `didChangeValue` reads the state back at once.
    private func announce(_ effect: OperationStateMachine.Effect, hasBecomeCancelled: Bool) {
        if hasBecomeCancelled { super.cancel() }
        switch effect {
        case .none:
            break
        case .announceReadiness:
            didChangeValue(forKey: "isReady")
        case .begin, .suspend, .abandon:
            didChangeValue(forKey: "isExecuting")
        case .finishCancelled, .finish:
            announceFinished()
        }
    }

    private func announceFinished() {
        // Foundation keeps pointers from an operation to those that depend on it without retaining them: one that is
        // finished and released before its dependencies are would leave such a pointer behind.
        for dependency in dependencies { removeDependency(dependency) }
        let (whenFinished, wasRunning) = state.withLock { state in
            defer { state.whenFinished = [] }
            return (state.whenFinished, state.isRunning)
        }
        // Scheduled before somebody who waits for the operation can go on: what he then does on the completion queue
        // comes after the callbacks.
        deliver(.finished(wasRunning: wasRunning))
        didChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isFinished")
        for body in whenFinished { body() }
    }

    /// Calls `body` once the operation has finished, on any thread; at once if it has.
    func whenFinished(_ body: @escaping @Sendable () -> Void) {
        let isFinished = state.withLock { state in
            guard state.machine.phase != .finished else { return true }
            state.whenFinished.append(body)
            return false
        }
        if isFinished { body() }
    }
}

// MARK: - ExchangeOwner

extension ConnectionOperation: ExchangeOwner {
    func exchangeDidReceive(_ response: HTTPURLResponse) {
        deliver { state in
            state.response = response
            return state.observers.isEmpty && !hasHooks ? nil : .received(response)
        }
    }

    func exchangeDidReceive(_ piece: Data, done: @escaping @Sendable () -> Void) {
        deliver(.piece(piece, done))
    }

    func exchangeDidDownload(_ report: ProgressReport) {
        deliver { $0.downloadProgress == nil ? nil : .downloaded(report) }
    }

    func exchangeDidUpload(_ report: ProgressReport) {
        deliver { $0.uploadProgress == nil ? nil : .uploaded(report) }
    }

    func exchangeWillFollow(
        _ redirect: HTTPURLResponse,
        to request: URLRequest,
        decide: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard let handler = state.withLock({ $0.redirect }) else {
            deliver { $0.observers.isEmpty ? nil : .redirected(redirect, request) }
            return decide(request)
        }
        Self.processingQueue.async {
            let request = handler(self, request, redirect)
            if let request { self.deliver { $0.observers.isEmpty ? nil : .redirected(redirect, request) } }
            decide(request)
        }
    }

    func exchangeDidEnd(_ end: ExchangeEnd) {
        Self.processingQueue.async { self.finish(end) }
    }

    /// Everything becomes final in one step with the phase: nobody sees a finished operation without its result.
    private func finish(_ end: ExchangeEnd) {
        let evaluation = evaluate(end)
        apply { state in
            let effect = state.machine.transferEnded()
            guard effect == .finish else { return effect }
            state.responseData = end.data
            state.metrics = end.metrics
            if state.machine.isCancelled {
                state.error = URLError.cancelled(url: state.request.url)
            } else {
                state.responseObject = evaluation.object
                state.error = evaluation.error
            }
            return effect
        }
    }
}
