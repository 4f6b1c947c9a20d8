public import Foundation

/// Why an operation cannot write the body to its ``ConnectionOperation/outputFile``.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum OutputFileError: Error, Hashable, Sendable {
    /// The URL names no file on this machine: its scheme is not `file`, it has a host that is not
    /// `localhost`, or its path is empty or no UTF-8. Nothing was asked of the server.
    case notAFileURL(URL)
    /// The name ends like that of a partial file or of its checkpoint: `.part`, `.part.resume`,
    /// `.part.resume.new`. Such names are for what downloads have themselves. Nothing was asked of the
    /// server.
    case reservedName(URL)
    /// Another operation of this process writes the file, under this name or another. It did not change
    /// because of this one.
    case inUse(URL)
}

// MARK: - CustomStringConvertible

extension OutputFileError: CustomStringConvertible {
    /// One sentence.
    public var description: String {
        switch self {
        case .notAFileURL(let url):
            "\(Redaction.text(of: url).debugDescription) does not name a file on this machine; outputFile needs a file URL."
        case .reservedName(let url):
            "\(url.path) has the name of a partial file (.part, .part.resume, .part.resume.new): choose another one."
        case .inUse(let url):
            "\(url.path) is being written by another operation."
        }
    }
}

// MARK: - LocalizedError

extension OutputFileError: LocalizedError {
    /// The same as ``description``.
    public var errorDescription: String? { description }
}

// MARK: - ClassifiedError

extension OutputFileError: ClassifiedError {
    package var traits: FailureTraits {
        switch self {
        case .inUse: .passing
        case .notAFileURL, .reservedName: .mistake
        }
    }
}
