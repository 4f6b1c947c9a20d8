/// The error of a wait whose event did not happen within its time limit.
public struct TimeLimitExceeded: Error, Hashable, Sendable {
    /// The event that was waited for, and the state when the time was over, as one sentence.
    public let explanation: String
    /// The time that was waited.
    public let limit: Duration
}

extension TimeLimitExceeded: CustomStringConvertible {
    /// The limit and the explanation, in a sentence.
    public var description: String {
        "Gave up after \(limit): \(explanation)"
    }
}

extension Duration {
    /// The default time limit of waiting. Only a test that fails waits so long, and a busy machine may hold
    /// everything up for seconds. Public, since it is the default of public functions, and for waits of your
    /// own that are to have the same limit.
    public static let waitingLimit = Duration.seconds(30)
}
