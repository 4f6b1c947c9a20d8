public import Foundation

/// Why a batch of downloads could not be made, or a member of it is not tried.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum DownloadBatchError: Error, Hashable, Sendable {
    /// Two items have this destination, or the journal has.
    case duplicateDestination(URL)
    /// A batch that did not complete has left this journal. It can be resumed, or removed.
    case journalExists(URL)
    /// There is no journal: the batch completed, or never began.
    case journalMissing(URL)
    /// A batch of this or of another process is writing the journal.
    case journalInUse(URL)
    /// A file that another user may have written: another user's, a link, one with a second name,
    /// or one that others may read or write. Batches make theirs with mode 0600. What it says may be another
    /// user's wish, or a server's.
    case journalNotOurs(URL)
    /// A file that is no journal, or whose first line is not what was written.
    case journalUnreadable(URL)
    /// The journal is, or would be, too long to be read, in bytes: at most 1 GiB, and 256 MiB for the list of
    /// its members.
    case journalTooLong(URL, length: Int64)
    /// The journal is of another version of this library.
    case journalOfOtherVersion(URL, schema: Int)
    /// The member failed in an earlier process, and is not tried again; this is what was said then.
    case failedBefore(String)
}

// MARK: - CustomStringConvertible

extension DownloadBatchError: CustomStringConvertible {
    /// One sentence.
    public var description: String {
        switch self {
        case .duplicateDestination(let url):
            "\(url.path) is the destination of more than one download."
        case .journalExists(let url):
            "\(url.path) is the journal of a batch that did not complete."
        case .journalMissing(let url):
            "\(url.path) is not there: there is no batch to go on with."
        case .journalInUse(let url):
            "\(url.path) is in use by a batch that runs."
        case .journalNotOurs(let url):
            "\(url.path) is not a journal that this user's batches made: it has another owner or mode, or is a link."
        case .journalUnreadable(let url):
            "\(url.path) is no journal of a batch, or is damaged."
        case .journalTooLong(let url, let length):
            "\(url.path) has, or would have, \(length) bytes, which is too long for a journal."
        case .journalOfOtherVersion(let url, let schema):
            "\(url.path) is a journal of version \(schema), which is not known here."
        case .failedBefore(let sentence):
            "It failed before: \(sentence.excerpt(500))"
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
        case .journalInUse: .passing
        case .duplicateDestination, .journalExists, .journalMissing, .journalNotOurs: .mistake
        case .journalUnreadable, .journalTooLong, .journalOfOtherVersion, .failedBefore: .lasting
        }
    }
}
