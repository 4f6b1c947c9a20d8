public import Foundation

/// Why a download did not produce its file. The received bytes are kept next to the destination unless the case says
/// otherwise.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum DownloadError: Error, Hashable, Sendable {
    /// The operation was started without a `destination`.
    case noDestination
    /// The destination is not a file URL, or its last component is missing, `.` or `..`.
    case invalidDestination(URL)
    /// The name ends like that of a partial file or a checkpoint: `.part`, `.part.resume` or `.part.resume.new`. A
    /// later download would mistake the file for its own.
    case reservedName(URL)
    /// A file with that name exists, and may not be replaced.
    case destinationExists(URL)
    /// A file of another user has that name, and the folder has the sticky bit: only the owner of the file may
    /// replace it.
    case destinationOfOtherUser(URL)
    /// A directory has that name.
    case destinationIsDirectory(URL)
    /// The destination is neither a file nor a directory. A symbolic link is neither followed nor
    /// replaced.
    case destinationIsNotFile(URL)
    /// Another operation or process is writing the file.
    case inUse(URL)
    /// All names that the partial file could have are taken by other files.
    case noFreeName(URL)
    /// There is not enough disk space for the rest of the file; both are in bytes.
    case notEnoughSpace(URL, needed: Int64, available: Int64)
    /// The download starts over, and there is not enough disk space for the new file next to the kept bytes. `kept`
    /// is their number, `length` that of the new file, or of what was received of it; both in bytes.
    /// ``DownloadOperation/startsOver`` discards the kept bytes.
    case noRoomForBoth(URL, kept: Int64, length: Int64)
    /// The file is longer than any file can be in that place; `length` is in bytes. Most likely, the server's length is
    /// wrong.
    case tooLarge(URL, length: Int64)
    /// Another program removed, replaced or changed the partial file at this location.
    case partialFileReplaced(URL)
    /// The file does not have a digest that the caller expected or the server named. The
    /// bytes of this operation are discarded. Bytes of an earlier operation, and an existing file that a batch
    /// was to keep, stay.
    case digestMismatch(URL, expected: FileDigest, actual: FileDigest)
    /// There is no checkpoint at this location, it cannot be read, this user did not create it, or its request had a
    /// body, which a checkpoint does not contain, or a query, which it does not contain where others may read it.
    case checkpointUnreadable(URL)
    /// The body ended before the file was complete; both are in bytes.
    case incomplete(URL, received: Int64, expected: Int64)
}

// MARK: - CustomStringConvertible

extension DownloadError: CustomStringConvertible {
    /// A sentence with the numbers.
    public var description: String {
        switch self {
        case .noDestination:
            "The download has no destination."
        case .invalidDestination(let url):
            "\(Redaction.text(of: url)) does not name a file on this machine."
        case .reservedName(let url):
            "\(url.path) has the name of a partial file (.part, .part.resume, .part.resume.new): choose another destination."
        case .destinationExists(let url):
            "\(url.path) exists, and may not be replaced."
        case .destinationOfOtherUser(let url):
            "\(url.path) belongs to another user, and its folder is sticky: only that user can replace it."
        case .destinationIsDirectory(let url):
            "\(url.path) is a directory."
        case .destinationIsNotFile(let url):
            "\(url.path) is a link, or not a regular file: nothing is saved there."
        case .inUse(let url):
            "\(url.path) is being downloaded by another operation or process."
        case .noFreeName(let url):
            "\(url.path) has too many partial files next to it."
        case .notEnoughSpace(let url, let needed, let available):
            "\(url.path) needs \(needed) more bytes, but only \(available) are free."
        case .noRoomForBoth(let url, let kept, let length):
            "\(url.path) has to start over, but there is no space for its \(length) bytes next to the \(kept) bytes kept so far."
        case .tooLarge(let url, let length):
            "\(url.path) would have \(length) bytes, which exceeds the maximum file size of its file system."
        case .partialFileReplaced(let url):
            "\(url.path) was changed by another process while it was being written."
        case .digestMismatch(let url, let expected, let actual):
            "\(url.path) would have the digest \(actual) instead of \(expected)."
        case .checkpointUnreadable(let url):
            "\(url.path) is not a checkpoint of one of this user's downloads."
        case .incomplete(let url, let received, let expected):
            "\(url.path) would have \(received) bytes instead of \(expected)."
        }
    }
}

// MARK: - LocalizedError

extension DownloadError: LocalizedError {
    /// The same as ``description``.
    public var errorDescription: String? { description }
}

extension FileError {
    /// Runs `body`, and converts its system errors to errors that name the file.
    static func translating<Result>(_ url: URL, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            throw foundation(error, url)
        }
    }
}

// MARK: - ClassifiedError

extension DownloadError: ClassifiedError {
    package var traits: FailureTraits {
        switch self {
        case .inUse, .notEnoughSpace, .noRoomForBoth, .partialFileReplaced, .incomplete: .temporary
        case .tooLarge, .digestMismatch: .permanent
        case .noDestination, .invalidDestination, .reservedName, .destinationExists, .destinationOfOtherUser,
            .destinationIsDirectory, .destinationIsNotFile, .noFreeName, .checkpointUnreadable:
            .mistake
        }
    }
}
