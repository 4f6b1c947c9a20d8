/// The state of a task, and the effect of each event on it: a value that decides and does nothing.
///
/// | phase     | resume         | suspend          | cancel               | ended     |
/// |-----------|----------------|------------------|----------------------|-----------|
/// | made      | running: start | -                | canceling: end       | -         |
/// | held      | waiting        | -                | canceling: end       | -         |
/// | waiting   | running: start | held             | canceling: end       | -         |
/// | running   | -              | suspended: pause | canceling: cancel    | completed |
/// | suspended | running: go on | -                | canceling: cancel    | completed |
/// | canceling | -              | -                | -                    | completed |
/// | completed | -              | -                | -                    | -         |
///
/// *Held* is a task whose progress was paused before the task was resumed, *waiting* one that was resumed
/// since. *Hold* and *release* are the pausing and the resuming of its progress:
///
/// | phase     | hold             | release        |
/// |-----------|------------------|----------------|
/// | made      | held             | running: start |
/// | held      | -                | made           |
/// | waiting   | -                | running: start |
/// | others    | as suspend       | as resume      |
///
/// *Made*, *held*, *waiting* and *suspended* are one state to the user: a task is made suspended. Suspensions
/// are not counted: one resume undoes them all, as with operations.
///
/// *Ended* is the end of the task's operation. It reaches a suspended task if the last byte came before the
/// pause did.
struct SessionTaskMachine: Hashable, Sendable {
    enum Phase: Hashable, Sendable, CaseIterable {
        case made
        case held
        case waiting
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
        case .made, .waiting:
            phase = .running
            return .start
        case .held:
            phase = .waiting
            return .none
        case .suspended:
            phase = .running
            return .goOn
        case .running, .canceling, .completed:
            return .none
        }
    }

    mutating func suspend() -> Effect {
        switch phase {
        case .waiting:
            phase = .held
            return .none
        case .running:
            phase = .suspended
            return .pause
        case .made, .held, .suspended, .canceling, .completed:
            return .none
        }
    }

    mutating func hold() -> Effect {
        switch phase {
        case .made:
            phase = .held
            return .none
        case .waiting:
            return .none
        case .held, .running, .suspended, .canceling, .completed:
            return suspend()
        }
    }

    mutating func release() -> Effect {
        switch phase {
        case .held:
            phase = .made
            return .none
        case .made, .waiting, .running, .suspended, .canceling, .completed:
            return resume()
        }
    }

    mutating func cancel() -> Effect {
        switch phase {
        case .made, .held, .waiting:
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
        case .made, .held, .waiting, .completed:
            return false
        }
    }
}
