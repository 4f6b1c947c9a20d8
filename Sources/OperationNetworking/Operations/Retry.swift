public import Foundation
public import FoundationNetworking

/// Why and when a request is sent later: again, or for the first time.
///
/// This is an event that observers receive; ``RetryPolicy`` is the value that decides. The wait of a first
/// attempt (``Cause/busyServer(_:)``) does not count as one of the policy's retries.
public struct Retry: Sendable {
    /// How the attempt ended, or why it waits.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Cause: Sendable {
        /// A response with a status that is worth a retry.
        case response(HTTPURLResponse)
        /// A transport error.
        case error(any Error)
        /// The server of this URL asked another operation to retry later (`Retry-After`): the next
        /// attempt, which may be the first, has to wait.
        case busyServer(URL)
    }

    /// How the attempt ended, or why it waits.
    public let cause: Cause
    /// The seconds until the next attempt. If ``RetryPolicy/network`` is unreachable after a transport error,
    /// the attempt waits for the network instead.
    public let delay: TimeInterval
}
