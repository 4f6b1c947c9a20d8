internal import OperationNetworkingSystem

/// The client of a transfer. Called on the network thread.
///
/// Everything but the end may be called inside a libcurl callback: the methods must not block, or start or
/// stop a transfer.
protocol TransferClient: AnyObject {
    /// The final head arrived. No byte of the body has been delivered yet.
    func transferDidReceive(_ head: ResponseHead) -> HeadAnswer

    /// The server changed cookies. Called before the final head, if there are changes.
    func transferDidReceive(_ changes: CookieChanges)

    /// Whether the body has to wait. Read before each piece; ``TransferRunning/resumeReceiving(_:)``
    /// continues.
    var transferMustWait: Bool { get }

    /// One piece of the decoded body arrived.
    /// - Throws: an error that makes the rest useless; the transfer ends with it.
    func transferDidReceive(_ bytes: Span<UInt8>) throws

    /// libcurl has taken `count` bytes of the request's body.
    func transferDidSend(_ count: Int)

    /// The request's body is sent again from `offset`, over another connection.
    func transferDidSeek(to offset: Int64)

    /// The transfer does not end at once: see ``Transfers/reportWhenLasting(_:)``. Called outside libcurl
    /// callbacks, perhaps while the transfer is started.
    func transferLasts()

    /// The transfer has ended by itself. The last call; not made for a transfer that was stopped.
    func transferDidComplete(_ end: TransferEnd)
}

extension TransferClient {
    func transferLasts() {}
}

/// What to do with a response, decided by its head.
enum HeadAnswer {
    case receive
    /// The client decides later: the body waits in its connection until `receive(_:)` or `cancelReceiving(_:)` of
    /// ``TransferRunning``. A response without a body may end before that.
    case later
    /// Do not receive the body: the transfer ends with `.refused`.
    case refuse
}
