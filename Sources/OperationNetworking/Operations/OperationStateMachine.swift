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
/// *Granted*: there is a slot. *Ended*: the transfer, or what else the exchange did.
///
/// A wait of the exchange leads from *executing* to *awaiting*, and its end from there to *returning*; in each
/// other phase they have no effect. 3: held back, if another one of its host rests in the queue.
///
/// *: finishing, if no queue has the operation. It stays unannounced until one starts it after all: a queue
/// takes no operation that Foundation knows to have finished.
///
/// *Finishing* is *finished* but for being known: results are final, and what was lent and depended upon is
/// given back. The queue looks at `isFinished` whenever it likes, so all that comes before. Then *conclude*
/// leads to *finished*.
///
/// A queue calls `start()` once and never again. So an operation that was paused when its queue had already
/// decided to start it is paused *while executing*: only `resume()` can set it going. And one that is
/// cancelled in its queue is only marked: it finishes when the queue starts it, or Foundation drops it with a
/// warning.
///
/// While it is paused after its start, waits for anything but its connection, is held back, or ends, the
/// operation has lent its slot in the queue: see ``SlotLedger``.
struct OperationStateMachine: Hashable, Sendable {
    enum Phase: Hashable, Sendable, CaseIterable {
        case ready
        case executing
        /// Its exchange waits for code of the app, or for a time.
        case awaiting
        /// What the exchange waited for is there; it goes on once there is a slot.
        case returning
        /// Its queue started it while another one with a request to the same host rests. Nothing has begun.
        case heldBack
        case pausedBeforeStart
        case pausedWhileExecuting
        case waitingForSlot
        /// Cancelled while no transfer ran; its results are on their way.
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

        /// Whether an exchange is under way: what `isExecuting` tells.
        var isExecuting: Bool {
            switch self {
            case .executing, .awaiting, .returning: true
            case .ready, .heldBack, .pausedBeforeStart, .pausedWhileExecuting, .waitingForSlot, .ending,
                .finishing, .finished:
                false
            }
        }
    }

    /// The work of the owner: to post while the state is locked, to announce after.
    enum Effect: Hashable, Sendable {
        case none
        /// `isReady` has changed.
        case announceReadiness
        /// Begin the exchange, or continue it.
        case begin
        /// Let the exchange go on after its wait.
        case goOn
        /// Stop the transfer, keep what came, and lend the slot.
        case suspend
        /// Tell the ledger that another phase that lends the slot began.
        case settleSlot
        /// Stop the transfer; its end comes as an event.
        case abandon
        /// The operation is over without a transfer to wait for: cancelled.
        case finishCancelled
        /// The operation is over: give everything back, and conclude.
        case finish
        /// Announce the end.
        case announceEnd
    }

    private(set) var phase: Phase
    private(set) var isCancelled = false
    /// Counts pauses of an exchange: what it tells of an earlier lap is too late.
    private(set) var lap = 0

    /// The state of an operation that finished in an earlier process.
    static let finished = OperationStateMachine(phase: .finished)

    init(phase: Phase = .ready) {
        self.phase = phase
    }

    var isPaused: Bool { phase == .pausedBeforeStart || phase == .pausedWhileExecuting }

    /// Whether it was cancelled, and has yet to be started by its queue: its result is known.
    var isCancelledBeforeStart: Bool { isCancelled && phase == .ready }

    /// Whether the results are what they will be.
    var isFinal: Bool { phase == .finishing || phase == .finished }

    /// Whether anything can still be configured: nothing has read the configuration yet.
    var isConfigurable: Bool { phase == .ready || phase == .pausedBeforeStart }

    /// - Parameter isHeldBack: whether another one rests because of the same host.
    /// - Returns: the work of the owner.
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
            return .goOn
        case .ready, .executing, .awaiting, .pausedBeforeStart, .pausedWhileExecuting, .ending, .finishing,
            .finished:
            return .none
        }
    }

    /// The exchange waits for code of the app, or for a time.
    mutating func waitBegan(in lap: Int) -> Effect {
        guard phase == .executing, lap == self.lap else { return .none }
        phase = .awaiting
        return .settleSlot
    }

    /// What the exchange waited for is there.
    mutating func waitEnded() -> Effect {
        guard phase == .awaiting else { return .none }
        phase = .returning
        return .settleSlot
    }

    /// - Parameter isAlone: whether no queue has the operation: none would start it.
    /// - Returns: the work of the owner.
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
            // What came until now is a result, too, and only the network thread has it.
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
