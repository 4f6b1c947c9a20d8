/// What a test waited for did not happen within its time limit.
public struct TimeLimitExceeded: Error, Hashable, Sendable {
    /// What was waited for, and what was there instead when the time was over, as one sentence.
    public let explanation: String
    /// How long was waited.
    public let limit: Duration
}

extension TimeLimitExceeded: CustomStringConvertible {
    /// The limit and the explanation, in a sentence.
    public var description: String {
        "Gave up after \(limit): \(explanation)"
    }
}

extension Duration {
    /// How long a test waits for what has to come, unless it says otherwise. Only a test that fails waits so
    /// long, and a busy machine may hold everything up for seconds.
    public static let waitingLimit = Duration.seconds(30)
}
