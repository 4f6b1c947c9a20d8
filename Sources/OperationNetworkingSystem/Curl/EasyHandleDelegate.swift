package import Foundation

/// Receives libcurl's events of a running transfer.
///
/// Every method is called on the thread that drives the multi handle, from within libcurl, which must not be
/// called from there. Methods must not block.
package protocol EasyHandleDelegate: AnyObject {
    /// A connection is about to be opened or reused. Called again if a reused connection turned out to be
    /// dead.
    func easyHandleWillConnect()

    /// The connection is established, with its TLS and HTTP version, and the request is sent next. Called
    /// again if libcurl sends the request again, over another connection because the first one turned out to
    /// be dead, or to answer a challenge; see `TransferOptions.authentication`.
    /// - Returns: false to abort the transfer.
    func easyHandleWillSendRequest(over connection: ConnectionID) -> Bool

    /// One line of a response head or of trailers, with its line end; an empty line ends a head.
    /// - Returns: false to abort the transfer.
    func easyHandleDidReceiveHeaderLine(_ line: Span<UInt8>) -> Bool

    /// One piece of the body, after chunked decoding and before content decoding.
    func easyHandleDidReceiveBody(_ bytes: Span<UInt8>) -> ReceiveAnswer

    /// Bytes may have been received or sent; `received` is the total of the response body. Called only after
    /// ``EasyHandle/reportProgress()``, and then often: for each byte of a proxy's answer to CONNECT.
    /// - Returns: false to abort the transfer.
    func easyHandleDidProgress(received: Int64) -> Bool

    /// The next piece of the request's body, of at most `count` bytes.
    func easyHandleNeedsBody(atMost count: Int) -> SendAnswer

    /// Rewinds the request's body to `offset`, to send it again over another connection.
    /// - Returns: false if it cannot be read again.
    func easyHandleSeeksBody(to offset: Int64) -> Bool
}

/// What happens to a piece of the response body.
package enum ReceiveAnswer: Sendable {
    case taken
    /// Nothing was accepted: pause, and deliver the same piece again after ``EasyHandle/resumeReceiving()``.
    case full
    /// Abort the transfer.
    case failed
}

/// The next piece of the request's body.
package enum SendAnswer: Sendable {
    /// At least one byte.
    case bytes(Data)
    case end
    /// Nothing yet: pause until ``EasyHandle/resumeSending()``.
    case notYet
    /// Abort the transfer.
    case failed
}
