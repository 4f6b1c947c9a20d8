public import Foundation

/// Why an operation cannot write a body to its ``ConnectionOperation/outputFile``.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum OutputFileError: Error, Hashable, Sendable {
    /// The URL does not name a file on this machine: its scheme is not `file`, it has a host other than
    /// `localhost`, or its path is empty or not UTF-8. Nothing was sent.
    case notAFileURL(URL)
    /// The name ends like that of a partial file or its checkpoint: `.part`, `.part.resume`,
    /// `.part.resume.new`. Such names are reserved for downloads. Nothing was sent.
    case reservedName(URL)
    /// Another operation of this process is writing the file, under this name or another. This operation did
    /// not change it.
    case inUse(URL)
}

// MARK: - CustomStringConvertible

extension OutputFileError: CustomStringConvertible {
    /// One sentence.
    public var description: String {
        switch self {
        case .notAFileURL(let url):
            "\(Redaction.text(of: url).debugDescription) does not name a file on this machine; outputFile requires a file URL."
        case .reservedName(let url):
            "\(url.path) has the name of a partial file (.part, .part.resume, .part.resume.new): choose another name."
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
        case .inUse: .temporary
        case .notAFileURL, .reservedName: .mistake
        }
    }
}
