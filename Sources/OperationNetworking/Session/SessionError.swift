public import Foundation

/// Why a task of a session failed before or after its transfer.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum SessionError: Error, Hashable, Sendable {
    /// The task was created after ``URLSessionManager/invalidateSession(cancelingTasks:resetSession:)``.
    /// Nothing was sent.
    case invalidated
    /// The complete file could not be moved. It is at `temporary`; nothing at `destination` was changed. The
    /// last value is the reason.
    case fileNotMoved(temporary: URL, destination: URL, reason: String)
    /// The data is not resume data of this library.
    case resumeDataUnreadable
}

// MARK: - CustomStringConvertible

extension SessionError: CustomStringConvertible {
    /// One sentence.
    public var description: String {
        switch self {
        case .invalidated:
            "The session was invalidated before the task was created."
        case .fileNotMoved(let temporary, let destination, let reason):
            "The file was downloaded to \(temporary.path) and cannot be moved to \(destination.path): \(reason)"
        case .resumeDataUnreadable:
            "The resume data was not created by this library."
        }
    }
}

// MARK: - LocalizedError

extension SessionError: LocalizedError {
    /// The same as ``description``.
    public var errorDescription: String? { description }
}

// MARK: - ClassifiedError

extension SessionError: ClassifiedError {
    package var traits: FailureTraits {
        switch self {
        case .invalidated, .resumeDataUnreadable: .mistake
        case .fileNotMoved: .permanent
        }
    }
}
