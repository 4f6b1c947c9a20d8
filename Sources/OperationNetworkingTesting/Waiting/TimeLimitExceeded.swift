/// The error of a wait whose event did not happen within its time limit.
public struct TimeLimitExceeded: Error, Hashable, Sendable {
    /// The awaited event and the state when the limit was reached, as one sentence.
    public let explanation: String
    /// The time limit.
    public let limit: Duration
}

extension TimeLimitExceeded: CustomStringConvertible {
    /// One sentence with the limit and the explanation.
    public var description: String {
        "Timed out after \(limit): \(explanation)"
    }
}

extension Duration {
    /// The default time limit of wait functions: 30 seconds. Only failing tests wait that long; a busy
    /// machine may delay everything by seconds. Can also be used for your own wait functions.
    public static let waitingLimit = Duration.seconds(30)
}
