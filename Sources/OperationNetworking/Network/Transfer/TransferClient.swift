internal import OperationNetworkingSystem

/// The client of a transfer. Called on the network thread.
///
/// All but the end may be called from within libcurl: nothing there may wait, or start or stop
/// a transfer.
protocol TransferClient: AnyObject {
    /// The final head came. No byte of the body was handed over yet.
    func transferDidReceive(_ head: ResponseHead) -> HeadAnswer

    /// The server's changes of cookies. Called before the final head, if there is anything.
    func transferDidReceive(_ changes: CookieChanges)

    /// Whether the body has to wait. Asked before each piece; ``TransferRunning/resumeReceiving(_:)`` goes
    /// on.
    var transferMustWait: Bool { get }

    /// One piece of the body, decoded.
    /// - Throws: anything that makes the rest useless; the transfer ends with it.
    func transferDidReceive(_ bytes: Span<UInt8>) throws

    /// `count` bytes of the request's body were taken by libcurl.
    func transferDidSend(_ count: Int)

    /// The request's body is sent again from `offset` on, over another connection.
    func transferDidSeek(to offset: Int64)

    /// The transfer does not end at once: see ``Transfers/tellLasting(_:)``. Called outside of libcurl.
    func transferLasts()

    /// The last call: the transfer has ended by itself. Not called for one that was stopped.
    func transferDidComplete(_ end: TransferEnd)
}

extension TransferClient {
    func transferLasts() {}
}

/// The treatment of a response, decided by its head.
enum HeadAnswer {
    case receive
    /// The client will say: the body waits in its connection until `receive(_:)` or `giveUp(_:)` of
    /// ``TransferRunning``. A response without a body ends meanwhile.
    case later
    /// Do not receive the body: the transfer ends with `.refused`.
    case refuse
}
