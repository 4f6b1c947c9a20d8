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

    let position: AnswerPosition
    let action: Action
}
