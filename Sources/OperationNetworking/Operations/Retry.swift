public import Foundation
public import FoundationNetworking

/// Why a request is sent later: again, or for the first time.
///
/// An event of an operation, which observers are told: so it is not nested in ``RetryPolicy``, a value that
/// decides and knows no response. The wait of a first attempt (``Cause/busyServer(_:)``) is none of its
/// retries.
public struct Retry: Sendable {
    /// The end of the attempt, or the reason of its wait.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Cause: Sendable {
        /// A response that may be better the next time.
        case response(HTTPURLResponse)
        /// A transport error.
        case error(any Error)
        /// The server of this URL told another operation to come back later (`Retry-After`): the attempt that
        /// was due has to wait. It may be the first one.
        case busyServer(URL)
    }

    /// The end of the attempt, or the reason of its wait.
    public let cause: Cause
    /// The seconds until the next attempt. While ``RetryPolicy/network`` is gone after a transport error, the
    /// attempt waits for that instead.
    public let delay: TimeInterval
}
