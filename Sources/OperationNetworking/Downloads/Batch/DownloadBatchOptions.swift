extension DownloadBatch {
    /// The options of a batch. A journal has them all.
    public struct Options: Hashable, Sendable {
        /// The number of files that come from one host at once, of the same scheme and port; redirects do not
        /// count. At least 1. While there are members, the manager's
        /// ``OperationManager/maximumConnectionsPerHost`` is at least that much, for all of its operations.
        public var maximumActiveDownloadsPerHost = 6

        /// The number of operations that the batch has in the manager's queue at once, at least 1. The
        /// queue's own limit holds besides.
        public var maximumActiveDownloads = 32

        /// The consequence of a failed member for the others.
        public var policy = BatchPolicy.collectAll

        /// The limit of bytes per second for all members together, besides the limits of the manager; `nil`:
        /// no limit.
        public var bytesPerSecond: Int64?

        /// The limit of bytes per second for each member; `nil`: no limit.
        public var bytesPerSecondPerDownload: Int64?

        /// The retry policy of each member.
        public var retryPolicy: RetryPolicy? = RetryPolicy(maximumRetries: 5)

        /// Whether existing files are replaced; see ``DownloadOperation/replacesFile``.
        public var replacesFile = false

        /// The treatment of unproven bytes; see ``DownloadOperation/unprovenBytes``.
        public var unprovenBytes = DownloadOperation.UnprovenBytes.discard

        /// Six at once from a host; all run to their ends.
        public init() {}
    }
}
