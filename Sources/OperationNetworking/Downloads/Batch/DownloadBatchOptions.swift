extension DownloadBatch {
    /// How a batch is downloaded. A journal has it all.
    public struct Options: Hashable, Sendable {
        /// How many files come from one host at once, of the same scheme and port; redirects do not count. At least 1. While
        /// members are there, the manager's ``OperationManager/maximumConnectionsPerHost`` is at least that much, for all of
        /// its operations.
        public var maximumPerHost = 6

        /// How many operations the batch has in the manager's queue at once, at least 1. The queue's own limit holds
        /// besides.
        public var maximumAtOnce = 32

        /// What a member that failed means for the others.
        public var policy = BatchPolicy.collectAll

        /// What all members together may receive in a second, besides the limits of the manager; `nil`: no limit.
        public var bytesPerSecond: Int64?

        /// What each member may receive in a second; `nil`: no limit.
        public var bytesPerSecondPerDownload: Int64?

        /// Of each member.
        public var retryPolicy: RetryPolicy? = RetryPolicy(maximumRetries: 5)

        /// Whether files that are there are replaced; see ``DownloadOperation/replacesFile``.
        public var replacesFile = false

        /// See ``DownloadOperation/unprovenBytes``.
        public var unprovenBytes = DownloadOperation.UnprovenBytes.discard

        /// Six at once from a host; all run to their ends.
        public init() {}
    }
}
