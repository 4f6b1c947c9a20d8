extension Answer {
    // MARK: - Breaking

    /// Closes the connection in the middle of the answer: the client reads the preceding bytes, then the end
    /// of the stream.
    public func breaking(after position: AnswerPosition) -> Answer {
        interrupted(at: position, by: .close)
    }

    /// Resets the connection (RST) in the middle of the answer. Bytes that the client has not read may be
    /// lost.
    public func resetting(after position: AnswerPosition) -> Answer {
        interrupted(at: position, by: .reset)
    }

    // MARK: - Waiting

    /// Stops sending and keeps the connection open until ``ScriptedServer/release()`` is called, the client
    /// closes its side, or the server is stopped. After a release the answer continues.
    public func stalling(after position: AnswerPosition) -> Answer {
        interrupted(at: position, by: .stall)
    }

    /// Stops sending until the gate is open, the client closes its side, or the server is stopped.
    /// ``Gate/waitForArrivals(_:within:)`` returns when the preceding bytes have been sent.
    public func held(after position: AnswerPosition = 0, by gate: Gate) -> Answer {
        interrupted(at: position, by: .hold(gate))
    }

    /// Calls `work` on the connection's thread when the preceding bytes have been sent.
    public func performing(after position: AnswerPosition, _ work: @escaping @Sendable () -> Void) -> Answer {
        interrupted(at: position, by: .perform(work))
    }

    private func interrupted(at position: AnswerPosition, by action: Interruption.Action) -> Answer {
        changed { $0.interruptions.append(Interruption(position: position, action: action)) }
    }
}
