public import Foundation

/// Why an operation cannot use the stream that it was given: an `OutputStream` for the body of its response,
/// or an `InputStream` with the body of its request.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum StreamError: Error, Hashable, Sendable {
    /// The stream was closed before the operation used it, or while it did. A closed stream cannot be opened
    /// again.
    case closed
    /// Another operation of this process uses the same stream object.
    case inUse
}

// MARK: - CustomStringConvertible

extension StreamError: CustomStringConvertible {
    /// One sentence.
    public var description: String {
        switch self {
        case .closed: "The stream is closed, and cannot be opened again."
        case .inUse: "The stream is used by another operation."
        }
    }
}

// MARK: - LocalizedError

extension StreamError: LocalizedError {
    /// The same as ``description``.
    public var errorDescription: String? { description }
}

// MARK: - ClassifiedError

extension StreamError: ClassifiedError {
    package var traits: FailureTraits {
        switch self {
        case .inUse: .passing
        case .closed: .mistake
        }
    }
}
