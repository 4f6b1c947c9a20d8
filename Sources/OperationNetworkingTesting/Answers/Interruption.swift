/// An event in the middle of an answer.
struct Interruption: Sendable {
    /// The action of an interruption.
    enum Action: Sendable {
        /// Closes the connection in an orderly way.
        case close
        /// Resets the connection.
        case reset
        /// Stops sending until the server releases its stalled answers.
        case stall
        /// Stops sending until the gate is open.
        case hold(Gate)
        /// Calls the function on the connection's thread.
        case perform(@Sendable () -> Void)
    }

    let position: AnswerPosition
    let action: Action
}
