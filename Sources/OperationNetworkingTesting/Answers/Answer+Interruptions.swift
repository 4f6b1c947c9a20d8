extension Answer {
    // MARK: - Breaking

    /// Closes the connection in the middle of the answer: the client reads the bytes before, then the end.
    public func breaking(after position: AnswerPosition) -> Answer {
        interrupted(at: position, by: .close)
    }

    /// Resets the connection (RST) in the middle of the answer. Bytes the client has not read may be lost to
    /// it.
    public func resetting(after position: AnswerPosition) -> Answer {
        interrupted(at: position, by: .reset)
    }

    // MARK: - Waiting

    /// Says nothing more, and keeps the connection open, until ``ScriptedServer/release()``, until the client
    /// closes its side, or until the server is stopped. After a release the answer goes on.
    public func stalling(after position: AnswerPosition) -> Answer {
        interrupted(at: position, by: .stall)
    }

    /// Says nothing more until the gate is open, the client closes its side, or the server is stopped.
    /// ``Gate/waitForArrivals(_:within:)`` tells when the bytes before have been sent.
    public func held(after position: AnswerPosition = 0, by gate: Gate) -> Answer {
        interrupted(at: position, by: .hold(gate))
    }

    /// Calls `work`, when the bytes before have been sent, on the connection's own thread.
    public func performing(after position: AnswerPosition, _ work: @escaping @Sendable () -> Void) -> Answer {
        interrupted(at: position, by: .perform(work))
    }

    private func interrupted(at position: AnswerPosition, by action: Interruption.Action) -> Answer {
        changed { $0.interruptions.append(Interruption(position: position, action: action)) }
    }
}
