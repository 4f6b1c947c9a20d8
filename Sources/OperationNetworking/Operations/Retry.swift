public import Foundation
public import FoundationNetworking

/// Why a request is sent later: again, or for the first time.
public struct Retry: Sendable {
    /// What the attempt ended with, or waits for.
    public enum Cause: Sendable {
        /// A response that may be better the next time.
        case response(HTTPURLResponse)
        /// A transport error.
        case error(any Error)
        /// The server of this URL told another operation to come back later (`Retry-After`): the attempt that
        /// was due has to wait. It may be the first one.
        case busyServer(URL)
    }

    /// What the attempt ended with, or waits for.
    public let cause: Cause
    /// Seconds until the next attempt.
    public let delay: TimeInterval
}
