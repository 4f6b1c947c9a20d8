extension DownloadBatch {
    /// What becomes of a member whose destination exists when the member's turn comes.
    public enum ExistingFiles: String, Hashable, Sendable, CaseIterable, Codable {
        /// The member fails with ``DownloadError/destinationExists(_:)``. Nothing is requested.
        case fail
        /// The file counts as downloaded, whoever made it: the member ends with ``DownloadedFile/Proof/existing``.
        /// Nothing is requested. A file without the ``DownloadItem/expectedDigests`` fails the member with
        /// ``DownloadError/digestMismatch(_:expected:actual:)``, and stays as it is. A batch that is run again
        /// fetches only what is missing.
        case keep
        /// The file is fetched, and replaced when the new one is complete.
        case replace
    }

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

        /// What becomes of members whose files exist. A link, a directory and another user's file in a folder with
        /// the sticky bit are an error in any case.
        public var existingFiles = ExistingFiles.fail

        /// The treatment of unproven bytes; see ``DownloadOperation/unprovenBytes``.
        public var unprovenBytes = DownloadOperation.UnprovenBytes.discard

        /// Six at once from a host; all run to their ends.
        public init() {}
    }
}
