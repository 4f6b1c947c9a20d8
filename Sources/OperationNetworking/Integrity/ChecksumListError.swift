public import Foundation

/// Why a ``ChecksumList`` cannot be used. Lines are counted from 1.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum ChecksumListError: Error, Hashable, Sendable {
    /// The line is none that `sha256sum` and its relatives write.
    case malformedLine(Int)
    /// The line names an algorithm that is not known here.
    case unknownAlgorithm(String, line: Int)
    /// The line's digest is not one.
    case malformedDigest(DigestError, line: Int)
    /// Two lines say different things about one file.
    case contradiction(path: String, line: Int, earlierLine: Int)
    /// Files in several directories have that name, and are not the same.
    case ambiguousName(String, line: Int, earlierLine: Int)
}

// MARK: - CustomStringConvertible

extension ChecksumListError: CustomStringConvertible {
    /// One sentence, with the number of the line.
    public var description: String {
        switch self {
        case .malformedLine(let line):
            "Line \(line) of the checksum list is not a checksum and a name."
        case .unknownAlgorithm(let name, let line):
            "Line \(line) of the checksum list: the digest algorithm \(name.excerpt().debugDescription) is not known."
        case .malformedDigest(let error, let line):
            "Line \(line) of the checksum list: \(error)"
        case .contradiction(let path, let line, let earlierLine):
            "Lines \(earlierLine) and \(line) of the checksum list differ about \(path.excerpt().debugDescription)."
        case .ambiguousName(let name, let line, let earlierLine):
            "Lines \(earlierLine) and \(line) of the checksum list are both of a file called \(name.excerpt().debugDescription)."
        }
    }
}

// MARK: - LocalizedError

extension ChecksumListError: LocalizedError {
    /// The same as ``description``.
    public var errorDescription: String? { description }
}
