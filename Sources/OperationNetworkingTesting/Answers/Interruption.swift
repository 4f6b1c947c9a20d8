/// An event in the middle of an answer.
struct Interruption: Sendable {
    /// The action of an interruption.
    enum Action: Sendable {
        /// The connection is closed in an orderly way.
        case close
        /// The connection is reset.
        case reset
        /// Nothing more is said until the server releases its stalled answers.
        case stall
        /// Nothing more is said until the gate is open.
        case hold(Gate)
        /// The function is called on the connection's thread.
        case perform(@Sendable () -> Void)
    }

    let position: Answer.Position
    let action: Action
}

extension Answer {
    /// A place in an answer, where it breaks, stalls or is held. An integer literal counts bytes of the body.
    public struct Position: Hashable, Sendable, ExpressibleByIntegerLiteral {
        enum Unit: Hashable, Sendable { case body, wire }

        let unit: Unit
        let count: Int

        /// After `count` bytes of the body, not counting the chunked coding's own. Zero is the place between
        /// the header section and the body. A place beyond the end is never reached.
        public static func body(_ count: Int) -> Position {
            Position(unit: .body, count: count)
        }

        /// After `count` bytes of whatever is sent, from the first byte of the first (interim) status line.
        /// A place beyond the end is never reached.
        public static func wire(_ count: Int) -> Position {
            Position(unit: .wire, count: count)
        }

        /// The place after `count` bytes of the body.
        public init(integerLiteral count: Int) {
            self = .body(count)
        }

        private init(unit: Unit, count: Int) {
            self.unit = unit
            self.count = count
        }
    }

    // MARK: - Breaking

    /// Closes the connection in the middle of the answer: the client reads the bytes before, then the end.
    public func breaking(after position: Position) -> Answer {
        interrupted(at: position, by: .close)
    }

    /// Resets the connection (RST) in the middle of the answer. Bytes the client has not read may be lost to
    /// it.
    public func resetting(after position: Position) -> Answer {
        interrupted(at: position, by: .reset)
    }

    // MARK: - Waiting

    /// Says nothing more, and keeps the connection open, until ``ScriptedServer/release()``, until the client
    /// closes its side, or until the server is stopped. After a release the answer goes on.
    public func stalling(after position: Position) -> Answer {
        interrupted(at: position, by: .stall)
    }

    /// Says nothing more until the gate is open, the client closes its side, or the server is stopped.
    /// ``Gate/waitForArrivals(_:within:)`` tells when the bytes before have been sent.
    public func held(after position: Position = 0, by gate: Gate) -> Answer {
        interrupted(at: position, by: .hold(gate))
    }

    /// Calls `work`, when the bytes before have been sent, on the connection's own thread.
    public func performing(after position: Position, _ work: @escaping @Sendable () -> Void) -> Answer {
        interrupted(at: position, by: .perform(work))
    }

    private func interrupted(at position: Position, by action: Interruption.Action) -> Answer {
        changed { $0.interruptions.append(Interruption(position: position, action: action)) }
    }
}
