import Dispatch
import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

extension ConnectionOperation {
    /// Runs a closure, on this thread or another.
    typealias Caller = (@escaping @Sendable () -> Void) -> Void

    /// Serializers and redirect closures run here: never on the network thread, and never on main.
    static let processingQueue = DispatchQueue(
        label: "OperationNetworking.processing",
        attributes: .concurrent
    )

    /// The one function that changes the state.
    @discardableResult
    func apply(_ event: (inout OperationState) -> OperationStateMachine.Effect)
        -> OperationStateMachine.Effect
    {
        let (effect, hasBecomeCancelled) = state.withLock { state in
            let wasCancelled = state.machine.isCancelled
            let effect = possible(event(&state), &state)
            // Scheduled before a thread that waits for the operation can continue: what it then does on the
            // completion queue comes after the callbacks.
            if let target = post(effect, &state) { scheduleDelivery(target) }
            return (effect, wasCancelled != state.machine.isCancelled)
        }
        announce(effect, hasBecomeCancelled: hasBecomeCancelled)
        return effect
    }

    /// Finishes the operation if an exchange is to begin or stop and there is no network thread: no exchange
    /// has begun, so none would report its end.
    private func possible(_ effect: OperationStateMachine.Effect, _ state: inout OperationState)
        -> OperationStateMachine.Effect
    {
        switch effect {
        case .begin where state.refusal != nil:
            state.results.error = state.refusal
            return state.machine.transferEnded()
        case .begin, .abandon:
            guard let obstacle = NetworkThread.shared.obstacle() else { return effect }
            state.results.error =
                effect == .begin
                ? TransferError.noThread(obstacle).error(for: state.request.url ?? URL(fileURLWithPath: "/"))
                : URLError.cancelled(url: state.request.url)
            return state.machine.transferEnded()
        case .none, .announceReadiness, .continueExchange, .suspend, .settleSlot, .finishCancelled, .finish,
            .announceEnd:
            return effect
        }
    }

    /// Runs `command` on all operations before a queue is notified that one of them is ready.
    ///
    /// A queue that is notified while it has a free slot checks the readiness of all waiting operations until
    /// its slots are filled. If it were notified for one operation at a time, it would check all the others
    /// each time, and find none ready.
    static func commandTogether<Member: ConnectionOperation>(
        _ operations: [Member],
        _ command: (Member) -> Void
    ) {
        for operation in operations { operation.state.withLock { $0.place.holdReadiness() } }
        for operation in operations { command(operation) }
        for operation in operations {
            if operation.state.withLock({ $0.place.releaseReadiness() }) {
                operation.didChangeValue(forKey: "isReady")
            }
        }
    }

    /// Cancels all of them; first those that have not started, because each cancelled operation would let one
    /// of them start.
    static func cancelTogether<Member: ConnectionOperation>(_ operations: [Member]) {
        commandTogether(operations.filter { !$0.hasStarted }) { $0.cancel() }
        for operation in operations { operation.cancel() }
    }

    /// Pauses all of them, in the same order.
    static func pauseTogether<Member: ConnectionOperation>(_ operations: [Member]) {
        // In this order: an operation that starts in between is in both arrays.
        let waiting = operations.filter { !$0.hasStarted }
        let started = operations.filter { $0.hasStarted }
        commandTogether(waiting) { $0.pause() }
        for operation in started { operation.pause() }
    }

    /// Resumes all of them, first those that had started.
    static func resumeTogether<Member: ConnectionOperation>(_ operations: [Member]) {
        let waiting = operations.filter { !$0.hasStarted }
        for operation in operations where operation.hasStarted { operation.resume() }
        commandTogether(waiting) { $0.resume() }
    }

    /// Whether the operation is from an archive and had finished in an earlier process. Foundation does not
    /// know that, and would make others wait for it.
    static func hadEnded(_ operation: Operation) -> Bool {
        (operation as? ConnectionOperation)?.state.withLock { $0.place.isRestored } == true
    }

    /// Notifies a queue to which the operations were just added that some have become ready since.
    ///
    /// Foundation on Linux reads `isReady` while it adds an operation, and stores that value over a
    /// notification that arrived in between: an operation that was resumed or cancelled, or whose dependency
    /// finished, at that moment would never start.
    static func notifyReadiness(late operations: [Operation]) {
        for operation in operations {
            let wasHeldBack =
                if let operation = operation as? ConnectionOperation {
                    operation.state.withLock { $0.place.wasHeldBack }
                } else {
                    operation is BatchEndOperation
                }
            if wasHeldBack, operation.isReady { operation.didChangeValue(forKey: "isReady") }
        }
    }

    /// Runs under the lock, so that a stop can never overtake its start.
    private func post(_ effect: OperationStateMachine.Effect, _ state: inout OperationState)
        -> DeliveryTarget?
    {
        switch effect {
        case .none, .announceReadiness, .settleSlot:
            return nil
        case .begin:
            begin(&state)
            state.isRunning = true
            defer { state.hasBegun = true }
            let audience = audience(state)
            return state.hasBegun ? state.append(.resumed, for: audience) : state.appendStart(for: audience)
        case .continueExchange:
            state.place.takeContinuation()?()
            return nil
        case .suspend:
            suspend(&state)
            state.isRunning = false
            return state.append(.paused, for: audience(state))
        case .abandon:
            let exchange = exchange(&state)
            NetworkThread.shared.perform(isUrgent: true) { exchange.cancel($0, for: self) }
            return nil
        case .finishCancelled:
            state.results.error = URLError.cancelled(url: state.request.url)
            return nil
        case .finish:
            return nil
        case .announceEnd:
            let audience = audience(state)
            state.isDelivered = !audience.needsQueue
            let target = state.append(.finished(wasRunning: state.isRunning), for: audience)
            // The start may wait for the main queue already, as a notification, which nothing waits for.
            if target == nil, audience.needsQueue {
                MainQueue.noteCallback(on: state.completionQueue ?? .main)
            }
            return target
        }
    }

    /// Begins or continues the exchange.
    private func begin(_ state: inout OperationState) {
        let exchange = exchange(&state)
        if let modes = state.uncommon.runLoopModes { NetworkThread.shared.add(modes: modes) }
        NetworkThread.shared.perform(isUrgent: true) { [lap = state.machine.lap] in
            exchange.begin($0, for: self, in: lap)
        }
    }

    private func suspend(_ state: inout OperationState) {
        guard let exchange = state.exchange else { return }
        NetworkThread.shared.perform(isUrgent: true) { exchange.suspend($0) }
    }

    /// Returns the exchange, and creates it if there is none: the operation may have been paused before it
    /// began.
    private func exchange(_ state: inout OperationState) -> Exchange {
        if let exchange = state.exchange { return exchange }
        var configuration = state.configuration
        complete(&configuration, state)
        configuration.givesPieces = Self.receivesPieces || state.closures.piece != nil
        configuration.asksAboutResponse = state.closures.response != nil
        configuration.anchorVersions = state.readings.anchorVersions
        let exchange = Exchange(
            configuration,
            cookies: state.readings.cookies,
            continuing: state.takeEarlierBody()
        )
        state.exchange = exchange
        return exchange
    }

    /// Runs after the lock is released: `didChangeValue` reads the state back at once.
    private func announce(_ effect: OperationStateMachine.Effect, hasBecomeCancelled: Bool) {
        if hasBecomeCancelled {
            ignoreBlockers()
            reportCancellation()
        }
        switch effect {
        case .none, .continueExchange:
            break
        case .announceReadiness:
            if state.withLock({ $0.place.becomeReady() }) { didChangeValue(forKey: "isReady") }
        case .begin:
            didChangeValue(forKey: "isExecuting")
        case .suspend, .settleSlot:
            settleSlot()
        case .abandon:
            break
        case .finishCancelled, .finish:
            returnResources()
        case .announceEnd:
            announceEnd()
        }
    }

    /// Makes a cancelled operation in a queue ignore its dependencies and barriers.
    ///
    /// Foundation is notified only if something blocks the operation. It would make an operation ready that
    /// is not in a queue yet; and adding a ready operation behind a barrier deadlocks, because Foundation
    /// takes the queue's lock twice.
    func ignoreBlockers() {
        guard !super.isReady else { return }
        // The queue may start it at once.
        state.withLock { $0.place.ignoreBlockers() }
        super.cancel()
    }

    /// Returns the operation's slot and dependencies. Called before `isFinished` is seen: from then on the
    /// queue counts the slot as free.
    private func returnResources() {
        // Foundation keeps unretained pointers from an operation to its dependents: an operation that is
        // released before its dependencies finish would leave a dangling pointer.
        for dependency in dependencies { removeDependency(dependency) }
        let (passed, slots) = state.withLock { $0.place.leave() }
        passed?.addOperation(BarrierKeeper(self))
        guard let slots else { return conclude() }
        slots.settle(self) { self.conclude() }
    }

    private func conclude() {
        apply { $0.machine.conclude() }
    }

    private func announceEnd() {
        let (whenFinished, whenKnown, isDelivered, notifiesFoundation) = state.withLock { state in
            defer { (state.whenFinished, state.whenKnown) = ([], nil) }
            return (state.whenFinished, state.whenKnown, state.isDelivered, state.place.end())
        }
        if notifiesFoundation { notifyFoundationOfEnd() }
        if isDelivered { endWithoutAudience() }
        for body in whenFinished { body() }
        for body in whenKnown ?? [] { body() }
    }

    /// On Linux nothing observes the keys but Foundation itself, which has nothing to do when an operation is no
    /// longer executing.
    func notifyFoundationOfEnd() {
        didChangeValue(forKey: "isFinished")
    }

    /// Ends an operation without an audience: only notifications are pending, and nothing waits for these.
    private func endWithoutAudience() {
        releaseAfterCompletion()
        let (group, mayDrop) = state.withLock { ($0.outbox.takeGroupAtEnd(), $0.mayDrop) }
        group?.leave()
        if mayDrop { MainLine.end(self) }
    }

    /// Whether its queue, or its user, has called `start()`.
    var hasStarted: Bool {
        switch phase {
        case .ready, .pausedBeforeStart: false
        case .executing, .awaiting, .returning, .heldBack, .pausedWhileExecuting, .waitingForSlot, .ending,
            .finishing, .finished:
            true
        }
    }

    /// Whether the results are final.
    var isFinal: Bool { state.withLock { $0.machine.isFinal } }

    /// The error for a task that waited for the operation: the operation's error if it is final; otherwise,
    /// that the wait was cancelled.
    var errorForWaiting: (any Error)? {
        state.withLock { $0.machine.isFinal ? $0.results.error : URLError.cancelled(url: $0.request.url) }
    }

    /// Calls `body` once the operation has finished, or was cancelled while it waits for its queue, which may
    /// be suspended, to start it. On any thread, possibly at once.
    func whenKnown(_ body: @escaping @Sendable () -> Void) {
        let isKnown = state.withLock { state in
            guard state.machine.phase != .finished, !state.machine.isCancelledBeforeStart else { return true }
            state.whenKnown = (state.whenKnown ?? []) + [body]
            return false
        }
        if isKnown { body() }
    }

    private func reportCancellation() {
        let bodies = state.withLock { state in
            state.machine.isCancelledBeforeStart ? state.whenKnown.take() : nil
        }
        report(to: memberships)
        for body in bodies ?? [] { body() }
    }

    /// Calls `body` once the operation has finished, on any thread; at once if it already has.
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
    func exchangeDidReceive(_ response: ReceivedResponse) {
        deliver { self.take(response, &$0) }
    }

    /// - Returns: the delivery, if anything observes it.
    func take(_ response: ReceivedResponse, _ state: inout OperationState) -> Delivery? {
        state.results.response = response
        return state.closures.observers.isEmpty && !isSubclass ? nil : .received(response)
    }

    func exchangeLasts() {
        state.withLock { state in
            if state.outbox.release() { scheduleDelivery(state.deliveryTarget(for: audience(state))) }
        }
    }

    func exchangeDidReceive(_ piece: Data, done: @escaping @Sendable () -> Void) {
        guard let handler = state.withLock({ $0.closures.piece }) else { return deliver(.piece(piece, done)) }
        deliver(handler(piece, done))
    }

    private var memberships: [BatchMembership] { state.withLock { $0.memberships } }

    func exchangeWillReceiveBody(at offset: Int64, length: Int64) {
        for membership in memberships { membership.didBegin(at: offset, length: length) }
    }

    func exchangeDidDownload(_ report: ProgressReport) {
        // First, since a progress closure may read the batch's progress.
        count(report)
        deliver { Self.delivery(of: report, $0) }
    }

    /// The delivery of a download's progress; `nil` if nothing observes it.
    static func delivery(of report: ProgressReport, _ state: OperationState) -> Delivery? {
        let closures = state.closures
        return closures.downloadProgress == nil && closures.observers.isEmpty ? nil : .downloaded(report)
    }

    /// Adds a download's progress to the batches' and the operation's progress objects.
    func count(_ report: ProgressReport) {
        let (memberships, outlets) = state.withLock { ($0.memberships, $0.outlets) }
        for membership in memberships { membership.didDownload(report) }
        outlets?.didMove(.download, report)
    }

    func exchangeDidUpload(_ report: ProgressReport) {
        let (memberships, outlets) = state.withLock { ($0.memberships, $0.outlets) }
        for membership in memberships { membership.didUpload(report) }
        outlets?.didMove(.upload, report)
        deliver { state in
            let closures = state.closures
            return closures.uploadProgress == nil && closures.observers.isEmpty ? nil : .uploaded(report)
        }
    }

    var exchangeAnswersRedirects: Bool { state.withLock { $0.closures.redirect != nil } }

    func exchangeWillFollow(
        _ redirect: HTTPURLResponse,
        to request: URLRequest,
        decide: @escaping @Sendable (RedirectAnswer) -> Void
    ) {
        guard let ask = state.withLock({ $0.closures.redirect }) else { return decide(.follow(request)) }
        ask(self, request, redirect) { decide($0.map { .follow($0) } ?? .refuse) }
    }

    func exchangeMayReceive(_ response: HTTPURLResponse, decide: @escaping @Sendable () -> Void) {
        guard let ask = state.withLock({ $0.closures.response }) else { return decide() }
        ask(response, decide)
    }

    func exchangeDidFollow(_ redirect: HTTPURLResponse, to request: URLRequest) {
        deliver { state in
            state.followed = request
            return state.closures.observers.isEmpty ? nil : .redirected(redirect, request)
        }
    }

    func exchangeDidResume(at offset: Int64) {
        deliver { $0.closures.observers.isEmpty ? nil : .keeping(offset) }
    }

    func exchangeWillStartOver(because reason: RestartReason) {
        deliver { $0.closures.observers.isEmpty ? nil : .startingOver(reason) }
    }

    func exchangeNeedsURL(after response: HTTPURLResponse, decide: @escaping @Sendable (URL?) -> Void) {
        freshURL(after: response, decide: decide)
    }

    func exchangeWillRetry(_ retry: Retry) {
        deliver { $0.closures.observers.isEmpty ? nil : .retrying(retry) }
    }

    func exchangeDidEnd(_ end: ExchangeEnd) {
        schedule(end, atOnce: NetworkThread.shared.leave) { self.finish(end) }
    }

    /// Makes the results final in one step with the phase: a finished operation is never seen without its
    /// result.
    ///
    /// Called again with the same end if a pause or cancel has overtaken it: see ``EndEvaluation``.
    func finish(_ end: ExchangeEnd) {
        let mayBeCancelled = !isBeyondCancellation
        // No serializer runs for an operation whose result is already known.
        let turn = state.withLock { state in
            state.evaluation.take(isCancelled: state.machine.isCancelled && mayBeCancelled)
        }
        let evaluation: EndEvaluation.Result
        switch turn {
        case .none: return
        case .evaluate: evaluation = evaluate(end)
        case .use(let result): evaluation = result
        }
        apply { state in
            let effect = state.machine.transferEnded()
            guard effect == .finish else {
                if !state.machine.isFinal { state.evaluation.keep(evaluation) }
                return effect
            }
            state.results.take(end)
            if state.machine.isCancelled, mayBeCancelled {
                state.results.error = URLError.cancelled(url: state.request.url)
            } else {
                state.results.take(evaluation)
            }
            return effect
        }
        // Releasing an unused object may run any code.
        withExtendedLifetime(evaluation) {}
    }
}
