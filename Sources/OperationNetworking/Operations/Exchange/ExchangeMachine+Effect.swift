// The effects of a machine's events, and the decisions that are its input.
extension ExchangeMachine {
    /// What the exchange has to do on the network after an event.
    enum Effect {
        case none
        /// Begin the first hop.
        case start
        /// Stop everything that runs.
        case stop(Stop)
        /// Hold the transfer while its operation is paused.
        case pause(TransferID)
        case resume(TransferID)
        /// Receive more: the sink has room again.
        case resumeReceiving(TransferID)
        /// Receive the body: the head has been answered.
        case receive(TransferID)
        /// Stop receiving the body.
        case cancelReceiving(TransferID)
        /// Stop the transfer and request the whole body.
        case restart(TransferID)
        /// Process the end that was kept.
        case processEnd
        case then(Step)
    }

    /// What the exchange has to do after an event without the network.
    enum Step {
        case none
        /// Keep the end of the transfer until the exchange resumes, or its owner has answered.
        case keepEnd
        /// Decide by the end of the body: ``BodyEnd``.
        case judgeEnd
        case proceed(Next)
        /// Repeat the request.
        case startAgain
        case report(End)
    }

    /// The things to stop, so that nothing runs any more.
    struct Stop: Hashable {
        var transfer: TransferID?
    }

    /// The decision about a response's head.
    enum Decision {
        /// The body is the body of the response.
        case take(BodyUse)
        /// As ``take(_:)``, but the body is held until the owner has answered.
        case takeFirst(BodyUse)
        /// The owner decides what follows; until then, up to this number of bytes of the body is buffered.
        case ask(keeping: Int64)
        /// As ``ask(keeping:)``, but the body is held until the owner has answered.
        case askFirst(keeping: Int64)
        /// Another step follows. At most this number of bytes of the body is received; `nil` for none.
        case proceed(Next, receiving: Int? = nil)
    }

    /// The owner's answer to a response's head.
    enum Answer {
        /// Another step follows. At most this number of bytes of the rest of the body is received; `nil` for
        /// none.
        case proceed(Next, receiving: Int?)
        /// The head is the head of the response.
        case take
        /// The head is the head of the response, and `next` follows its body.
        case takeThen(Next)
    }
}
