/// The state of a task, and the effect of each event on it: a value that decides and does nothing.
///
/// | phase     | resume         | suspend          | cancel               | ended     |
/// |-----------|----------------|------------------|----------------------|-----------|
/// | made      | running: start | -                | canceling: end       | -         |
/// | running   | -              | suspended: pause | canceling: cancel    | completed |
/// | suspended | running: go on | -                | canceling: cancel    | completed |
/// | canceling | -              | -                | -                    | completed |
/// | completed | -              | -                | -                    | -         |
///
/// *Made* and *suspended* are one state to the user: a task is made suspended. Suspensions are not counted:
/// one resume undoes them all, as with operations.
///
/// *Ended* is the end of the task's operation. It reaches a suspended task if the last byte came before the
/// pause did.
struct SessionTaskMachine: Hashable, Sendable {
    enum Phase: Hashable, Sendable, CaseIterable {
        case made
        case running
        case suspended
        case canceling
        case completed
    }

    /// The work of the owner, to be queued while the state is locked.
    enum Effect: Hashable, Sendable, CaseIterable {
        case none
        /// Make the operation, and start it.
        case start
        case pause
        case goOn
        /// Cancel the operation; its end comes as an event.
        case cancel
        /// There is no operation: it is over, as a cancelled one is.
        case end
    }

    private(set) var phase: Phase

    init(phase: Phase = .made) {
        self.phase = phase
    }

    mutating func resume() -> Effect {
        switch phase {
        case .made:
            phase = .running
            return .start
        case .suspended:
            phase = .running
            return .goOn
        case .running, .canceling, .completed:
            return .none
        }
    }

    mutating func suspend() -> Effect {
        switch phase {
        case .running:
            phase = .suspended
            return .pause
        case .made, .suspended, .canceling, .completed:
            return .none
        }
    }

    mutating func cancel() -> Effect {
        switch phase {
        case .made:
            phase = .canceling
            return .end
        case .running, .suspended:
            phase = .canceling
            return .cancel
        case .canceling, .completed:
            return .none
        }
    }

    /// - Returns: whether this is the end: there is one.
    mutating func ended() -> Bool {
        switch phase {
        case .running, .suspended, .canceling:
            phase = .completed
            return true
        case .made, .completed:
            return false
        }
    }
}
