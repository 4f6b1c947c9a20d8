/// Which state an operation is in, and what each event does to it: a value that decides and does nothing.
///
/// | event         | ready               | executing              | paused before start    | paused while executing | finished |
/// |---------------|---------------------|------------------------|------------------------|------------------------|----------|
/// | start         | executing           | -                      | paused while executing | -                      | -        |
/// | pause         | paused before start | paused while executing | -                      | -                      | -        |
/// | resume        | -                   | -                      | ready                  | executing              | -        |
/// | cancel        | marked              | stops, then finishes   | marked, and ready      | executing, as the left | -        |
/// | transfer ends | -                   | finished               | -                      | - (late)               | -        |
///
/// A queue calls `start()` once and never again. So an operation that was paused when its queue had already decided
/// to start it is paused *while executing*: only `resume()` can set it going. And one that is cancelled in its queue
/// is only marked: it finishes when the queue starts it, or Foundation drops it with a warning.
struct OperationStateMachine: Hashable, Sendable {
    enum Phase: Hashable, Sendable, CaseIterable {
        case ready
        case executing
        case pausedBeforeStart
        case pausedWhileExecuting
        case finished
    }

    /// What the owner has to do: post it while the state is locked, announce it after.
    enum Effect: Hashable, Sendable {
        case none
        /// `isReady` has changed.
        case announceReadiness
        /// Begin the exchange, or continue it.
        case begin
        /// Stop the transfer, keep what came.
        case suspend
        /// Stop the transfer; its end comes as an event.
        case abandon
        /// It is over without a transfer to wait for: cancelled.
        case finishCancelled
        /// It is over.
        case finish
    }

    private(set) var phase: Phase
    private(set) var isCancelled = false

    /// Of an operation that finished in an earlier process.
    static let finished = OperationStateMachine(phase: .finished)

    init(phase: Phase = .ready) {
        self.phase = phase
    }

    var isPaused: Bool { phase == .pausedBeforeStart || phase == .pausedWhileExecuting }

    /// Whether anything can still be configured: nothing has read the configuration yet.
    var isConfigurable: Bool { phase == .ready || phase == .pausedBeforeStart }

    mutating func start() -> Effect {
        switch phase {
        case .ready where isCancelled:
            phase = .finished
            return .finishCancelled
        case .ready:
            phase = .executing
            return .begin
        case .pausedBeforeStart:
            phase = .pausedWhileExecuting
            return .none
        case .executing, .pausedWhileExecuting, .finished:
            return .none
        }
    }

    mutating func pause() -> Effect {
        guard !isCancelled else { return .none }
        switch phase {
        case .ready:
            phase = .pausedBeforeStart
            return .announceReadiness
        case .executing:
            phase = .pausedWhileExecuting
            return .suspend
        case .pausedBeforeStart, .pausedWhileExecuting, .finished:
            return .none
        }
    }

    mutating func resume() -> Effect {
        switch phase {
        case .pausedBeforeStart:
            phase = .ready
            return .announceReadiness
        case .pausedWhileExecuting:
            phase = .executing
            return .begin
        case .ready, .executing, .finished:
            return .none
        }
    }

    mutating func cancel() -> Effect {
        guard !isCancelled, phase != .finished else { return .none }
        isCancelled = true
        switch phase {
        case .ready:
            return .none
        case .pausedBeforeStart:
            phase = .ready
            return .announceReadiness
        case .executing, .pausedWhileExecuting:
            // What came until now is a result, too, and only the network thread has it.
            phase = .executing
            return .abandon
        case .finished:
            return .none
        }
    }

    mutating func transferEnded() -> Effect {
        switch phase {
        case .executing:
            phase = .finished
            return .finish
        case .ready, .pausedBeforeStart, .pausedWhileExecuting, .finished:
            return .none
        }
    }
}
