package import Foundation

/// The events of a transfer while it runs, from libcurl.
///
/// Every method is called on the thread that drives the multi handle, from within libcurl, where calling
/// libcurl is not allowed. Nothing here may wait.
package protocol EasyHandleDelegate: AnyObject {
    /// There is going to be a connection. Once more when the one that was used before turned out to be dead.
    func easyHandleWillConnect()

    /// There is a connection, with its TLS and its HTTP version; the request goes out next. Once more when
    /// libcurl sends it again, over another connection, because the first one turned out to be dead, or when
    /// it answers what the server wanted to know; see `TransferOptions.authentication`.
    /// - Returns: false to give the transfer up.
    func easyHandleWillSendRequest(over connection: ConnectionID) -> Bool

    /// One line of a response head or of trailers, with its line end; an empty line ends a head.
    /// - Returns: false to give the transfer up.
    func easyHandleDidReceiveHeaderLine(_ line: Span<UInt8>) -> Bool

    /// One piece of the body, as sent, after chunks are joined and before any content coding is undone.
    func easyHandleDidReceiveBody(_ bytes: Span<UInt8>) -> ReceiveAnswer

    /// Bytes may have come, or gone: `received` bytes of the response's body altogether. Only called
    /// after ``EasyHandle/reportProgress()``, and then often; for each byte of a proxy's answer to CONNECT.
    /// - Returns: false to give the transfer up.
    func easyHandleDidProgress(received: Int64) -> Bool

    /// The next piece of the request's body, of at most `count` bytes.
    func easyHandleNeedsBody(atMost count: Int) -> SendAnswer

    /// Goes back to `offset` in the request's body, to send it again over another connection.
    /// - Returns: false when it cannot be read again.
    func easyHandleSeeksBody(to offset: Int64) -> Bool
}

/// The fate of a piece of the response's body.
package enum ReceiveAnswer: Sendable {
    case taken
    /// Nothing of it was taken: hold the transfer, and bring the same piece again after
    /// ``EasyHandle/resumeReceiving()``.
    case full
    /// Give the transfer up.
    case failed
}

/// The next piece of the request's body.
package enum SendAnswer: Sendable {
    /// At least one byte.
    case bytes(Data)
    case end
    /// Nothing yet: hold until ``EasyHandle/resumeSending()``.
    case notYet
    /// Give the transfer up.
    case failed
}
