// The effects of a machine's events, and the decisions that it is told.
extension ExchangeMachine {
    /// The work of the exchange on the network after an event.
    enum Effect {
        case none
        /// The first hop begins.
        case start
        /// Nothing runs any more but these.
        case stop(Stop)
        /// The transfer is held while its operation is paused.
        case pause(TransferID)
        case resume(TransferID)
        /// The sink has room again.
        case resumeReceiving(TransferID)
        /// The head is answered: its body is received.
        case receive(TransferID)
        /// The rest of the body is not wanted.
        case giveUp(TransferID)
        /// The transfer stops, and the whole is asked for.
        case restart(TransferID)
        /// The end that was kept is heard now.
        case hearEnd
        case then(Step)
    }

    /// The work after an event for which the network is not needed now.
    enum Step {
        case none
        /// The end of the transfer is kept until the exchange goes on, or its owner has answered.
        case keepEnd
        /// The end of the body decides: ``BodyEnd``.
        case judgeEnd
        case goOn(Next)
        /// The same is asked again.
        case startAgain
        case tell(End)
    }

    /// The things to stop, so that nothing runs any more.
    struct Stop: Hashable {
        var transfer: TransferID?
    }

    /// The decision of a response's head.
    enum Decision {
        /// The body is the response's.
        case take(BodyUse)
        /// The same, and the body waits until the owner has said where it goes.
        case takeFirst(BodyUse)
        /// The owner is asked what follows; this number of bytes of the body is kept aside meanwhile.
        case ask(keeping: Int64)
        /// The same, and the body waits for the answer.
        case askFirst(keeping: Int64)
        /// Another step follows; this number of bytes of the body is received at most. `nil`: none.
        case goOn(Next, receiving: Int? = nil)
    }

    /// The answer of the owner to a response's head.
    enum Answer {
        /// Another step follows; this number of bytes of what is left of the body is received at most. `nil`:
        /// none.
        case goOn(Next, receiving: Int?)
        /// The head is that of the response.
        case take
        /// The head is that of the response, and `next` follows its body.
        case takeThen(Next)
    }
}
