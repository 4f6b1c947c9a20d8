extension DownloadBatch {
    /// How a batch handles a destination that already exists when its download would start.
    public enum ExistingFiles: String, Hashable, Sendable, CaseIterable, Codable {
        /// The member fails with ``DownloadError/destinationExists(_:)``. Nothing is requested.
        case fail
        /// The existing file is accepted, whoever made it: the member ends with ``DownloadedFile/Proof/existing``,
        /// and nothing is requested. If the file does not have the ``DownloadItem/expectedDigests``, the member fails
        /// with ``DownloadError/digestMismatch(_:expected:actual:)``, and the file stays unchanged. A batch that is
        /// run again downloads only what is missing.
        case keep
        /// The file is downloaded, and replaced once the new one is complete.
        case replace
    }

    /// The options of a batch, which a journal contains.
    public struct Options: Hashable, Sendable {
        /// The maximum number of concurrent downloads from one host with the same scheme and port, ignoring
        /// redirects. At least 1. While the batch has members, the manager's
        /// ``OperationManager/maximumConnectionsPerHost`` is at least that high, for all of its operations.
        public var maximumActiveDownloadsPerHost = 6

        /// The maximum number of operations of the batch in the manager's queue, at least 1. The queue's own limit
        /// applies, too.
        public var maximumActiveDownloads = 32

        /// What the failure of a member means for the others.
        public var policy = BatchPolicy.collectAll

        /// The rate limit for all members together in bytes per second, in addition to those of the manager; `nil`
        /// for no limit.
        public var bytesPerSecond: Int64?

        /// The rate limit for each member in bytes per second; `nil` for no limit.
        public var bytesPerSecondPerDownload: Int64?

        /// The retry policy of each member.
        public var retryPolicy: RetryPolicy? = RetryPolicy(maximumRetries: 5)

        /// What happens to members whose files exist. A link, a directory, and another user's file in a folder with
        /// the sticky bit are always an error.
        public var existingFiles = ExistingFiles.fail

        /// The treatment of unproven bytes; see ``DownloadOperation/unprovenBytes``.
        public var unprovenBytes = DownloadOperation.UnprovenBytes.discard

        /// Creates options for six concurrent downloads per host, in which all members run to their ends.
        public init() {}
    }
}
