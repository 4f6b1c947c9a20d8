/// The state of an operation, and the effect of each event on it: a value that decides and does nothing.
///
/// | phase                  | start       | pause    | resume  | granted   | cancel          | ended     |
/// |------------------------|-------------|----------|---------|-----------|-----------------|-----------|
/// | ready                  | executing 3 | paused 1 | -       | -         | marked *        | -         |
/// | executing              | -           | paused 2 | -       | -         | stops, finishes | finishing |
/// | awaiting               | -           | paused 2 | -       | -         | ending          | finishing |
/// | returning              | -           | paused 2 | -       | executing | ending          | finishing |
/// | held back              | -           | paused 2 | -       | executing | ending          | - (late)  |
/// | paused before start: 1 | paused 2    | -        | ready   | -         | marked *, ready | -         |
/// | while executing: 2     | -           | -        | waiting | -         | ending          | - (late)  |
/// | waiting for a slot     | -           | paused 2 | -       | executing | ending          | - (late)  |
/// | ending                 | -           | -        | -       | -         | -               | finishing |
/// | finishing              | -           | -        | -       | -         | -               | -         |
/// | finished               | -           | -        | -       | -         | -               | -         |
///
/// *Granted*: a slot is free. *Ended*: the transfer, or other work of the exchange, has ended.
///
/// A wait of the exchange leads from *executing* to *awaiting*, and its end from there to *returning*; in
/// each other phase they have no effect. 3: held back, if an operation with the same host waits for it in the
/// queue.
///
/// *: finishing, if no queue has the operation. That is not announced until a queue starts it after all: a
/// queue rejects an operation that Foundation knows to have finished.
///
/// *Finishing* is *finished* before it is visible: the results are final, and slots and dependencies are
/// being released. The queue can read `isFinished` at any time, so all that comes first. Then *conclude*
/// leads to *finished*.
///
/// A queue calls `start()` only once. So an operation that is paused when its queue has already decided to
/// start it is paused *while executing*: only `resume()` can start it. An operation that is cancelled in its
/// queue is only marked: it finishes when the queue starts it; otherwise Foundation would drop it with a
/// warning.
///
/// While it is paused after its start, waits for anything but its connection, is held back, or is ending, the
/// operation lends its slot in the queue to others: see ``SlotLedger``.
struct OperationStateMachine: Hashable, Sendable {
    enum Phase: Hashable, Sendable, CaseIterable {
        case ready
        case executing
        /// Its exchange waits for code of the app, or for a delay.
        case awaiting
        /// The wait of the exchange has ended; it continues once there is a slot.
        case returning
        /// Its queue started it while another operation waits for the same host. Nothing has begun.
        case heldBack
        case pausedBeforeStart
        case pausedWhileExecuting
        case waitingForSlot
        /// Cancelled while no transfer ran; its results are pending.
        case ending
        case finishing
        case finished

        /// Whether the queue counts the operation as running while it does not run.
        var lendsSlot: Bool {
            switch self {
            case .awaiting, .returning, .heldBack, .pausedWhileExecuting, .waitingForSlot, .ending: true
            case .ready, .executing, .pausedBeforeStart, .finishing, .finished: false
            }
        }

        /// Whether an exchange is in progress: the value of `isExecuting`.
        var isExecuting: Bool {
            switch self {
            case .executing, .awaiting, .returning: true
            case .ready, .heldBack, .pausedBeforeStart, .pausedWhileExecuting, .waitingForSlot, .ending,
                .finishing, .finished:
                false
            }
        }
    }

    /// What the owner has to do: post while the state is locked, announce afterwards.
    enum Effect: Hashable, Sendable {
        case none
        /// `isReady` has changed.
        case announceReadiness
        /// Begin or continue the exchange.
        case begin
        /// Continue the exchange after its wait.
        case continueExchange
        /// Stop the transfer, keep the received bytes, and lend the slot.
        case suspend
        /// Notify the ledger that another phase that lends the slot began.
        case settleSlot
        /// Stop the transfer; its end is a later event.
        case abandon
        /// Finish a cancelled operation that has no transfer to wait for.
        case finishCancelled
        /// Finish: release slot and dependencies, and conclude.
        case finish
        /// Announce the end.
        case announceEnd
    }

    private(set) var phase: Phase
    private(set) var isCancelled = false
    /// The number of pauses of the exchange. Events of an earlier lap are ignored.
    private(set) var lap = 0

    /// The state of an operation that finished in an earlier process.
    static let finished = OperationStateMachine(phase: .finished)

    init(phase: Phase = .ready) {
        self.phase = phase
    }

    var isPaused: Bool { phase == .pausedBeforeStart || phase == .pausedWhileExecuting }

    /// Whether it was cancelled before its queue started it: its result is known.
    var isCancelledBeforeStart: Bool { isCancelled && phase == .ready }

    /// Whether the results are final.
    var isFinal: Bool { phase == .finishing || phase == .finished }

    /// Whether anything can still be configured: nothing has read the configuration yet.
    var isConfigurable: Bool { phase == .ready || phase == .pausedBeforeStart }

    /// - Parameter isHeldBack: whether another operation waits for the same host.
    /// - Returns: what the owner has to do.
    mutating func start(isHeldBack: Bool = false) -> Effect {
        switch phase {
        case .ready where isCancelled:
            phase = .finishing
            return .finishCancelled
        case .ready:
            phase = isHeldBack ? .heldBack : .executing
            return isHeldBack ? .settleSlot : .begin
        case .pausedBeforeStart:
            phase = .pausedWhileExecuting
            return .settleSlot
        case .executing, .awaiting, .returning, .heldBack, .pausedWhileExecuting, .waitingForSlot, .ending,
            .finishing, .finished:
            return .none
        }
    }

    mutating func pause() -> Effect {
        guard !isCancelled else { return .none }
        switch phase {
        case .ready:
            phase = .pausedBeforeStart
            return .announceReadiness
        case .executing, .awaiting, .returning:
            phase = .pausedWhileExecuting
            lap += 1
            return .suspend
        case .waitingForSlot, .heldBack:
            phase = .pausedWhileExecuting
            return .settleSlot
        case .pausedBeforeStart, .pausedWhileExecuting, .ending, .finishing, .finished:
            return .none
        }
    }

    mutating func resume() -> Effect {
        switch phase {
        case .pausedBeforeStart:
            phase = .ready
            return .announceReadiness
        case .pausedWhileExecuting:
            phase = .waitingForSlot
            return .settleSlot
        case .ready, .executing, .awaiting, .returning, .heldBack, .waitingForSlot, .ending, .finishing,
            .finished:
            return .none
        }
    }

    mutating func slotGranted() -> Effect {
        switch phase {
        case .waitingForSlot, .heldBack:
            phase = .executing
            return .begin
        case .returning:
            phase = .executing
            return .continueExchange
        case .ready, .executing, .awaiting, .pausedBeforeStart, .pausedWhileExecuting, .ending, .finishing,
            .finished:
            return .none
        }
    }

    /// The exchange began to wait for code of the app, or for a delay.
    mutating func waitBegan(in lap: Int) -> Effect {
        guard phase == .executing, lap == self.lap else { return .none }
        phase = .awaiting
        return .settleSlot
    }

    /// The wait of the exchange has ended.
    mutating func waitEnded() -> Effect {
        guard phase == .awaiting else { return .none }
        phase = .returning
        return .settleSlot
    }

    /// - Parameter isAlone: whether no queue has the operation, and so none would start it.
    /// - Returns: what the owner has to do.
    mutating func cancel(isAlone: Bool = false) -> Effect {
        guard !isCancelled, phase != .finishing, phase != .finished else { return .none }
        isCancelled = true
        switch phase {
        case .ready where isAlone, .pausedBeforeStart where isAlone:
            phase = .finishing
            return .finishCancelled
        case .ready:
            return .none
        case .pausedBeforeStart:
            phase = .ready
            return .announceReadiness
        case .executing:
            return .abandon
        case .awaiting, .returning, .heldBack, .pausedWhileExecuting, .waitingForSlot:
            // The bytes received so far are part of the result, and only the network thread has them.
            phase = .ending
            return .abandon
        case .ending, .finishing, .finished:
            return .none
        }
    }

    mutating func transferEnded() -> Effect {
        switch phase {
        case .executing, .awaiting, .returning, .ending:
            phase = .finishing
            return .finish
        case .ready, .heldBack, .pausedBeforeStart, .pausedWhileExecuting, .waitingForSlot, .finishing,
            .finished:
            return .none
        }
    }

    mutating func conclude() -> Effect {
        guard phase == .finishing else { return .none }
        phase = .finished
        return .announceEnd
    }
}
