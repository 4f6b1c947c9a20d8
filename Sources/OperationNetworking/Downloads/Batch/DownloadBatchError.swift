public import Foundation

/// Why a batch of downloads could not be created, or a member of it was not tried.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum DownloadBatchError: Error, Hashable, Sendable {
    /// Two items have this destination, or it is that of the journal.
    case duplicateDestination(URL)
    /// An incomplete batch has left this journal, which can be resumed or removed.
    case journalExists(URL)
    /// There is no journal: the batch has completed, or never began.
    case journalMissing(URL)
    /// A batch of this process or another one is using the journal.
    case journalInUse(URL)
    /// Another user may have written the journal: it is another user's file, a link, has several names, may be read
    /// or written by others, or is a copy. Batches create theirs with mode 0600.
    case journalNotTrusted(URL)
    /// The file is not a journal, or its first line is damaged.
    case journalUnreadable(URL)
    /// The journal is, or would be, too long, in bytes. At most 1 GiB is read, and 256 MiB for the list of members.
    case journalTooLong(URL, length: Int64)
    /// The journal is from another version of the library.
    case journalOfOtherVersion(URL, schema: Int)
    /// The member failed in an earlier process, and is not retried. The associated value describes its error.
    case failedBefore(String)
}

// MARK: - CustomStringConvertible

extension DownloadBatchError: CustomStringConvertible {
    /// A sentence.
    public var description: String {
        switch self {
        case .duplicateDestination(let url):
            "\(url.path) is the destination of more than one download."
        case .journalExists(let url):
            "\(url.path) is the journal of a batch that did not complete."
        case .journalMissing(let url):
            "\(url.path) does not exist: there is no batch to resume."
        case .journalInUse(let url):
            "\(url.path) is in use by a running batch."
        case .journalNotTrusted(let url):
            "\(url.path) was not written by one of this user's batches: it has another owner or mode, or is a link."
        case .journalUnreadable(let url):
            "\(url.path) is not the journal of a batch, or is damaged."
        case .journalTooLong(let url, let length):
            "\(url.path) has, or would have, \(length) bytes, which is too long for a journal."
        case .journalOfOtherVersion(let url, let schema):
            "\(url.path) is a journal of version \(schema), which this version of the library cannot read."
        case .failedBefore(let sentence):
            "The download failed in an earlier process: \(sentence.excerpt(500))"
        }
    }
}

// MARK: - LocalizedError

extension DownloadBatchError: LocalizedError {
    /// The same as ``description``.
    public var errorDescription: String? { description }
}

// MARK: - ClassifiedError

extension DownloadBatchError: ClassifiedError {
    package var traits: FailureTraits {
        switch self {
        case .journalInUse: .temporary
        case .duplicateDestination, .journalExists, .journalMissing, .journalNotTrusted: .mistake
        case .journalUnreadable, .journalTooLong, .journalOfOtherVersion, .failedBefore: .permanent
        }
    }
}
