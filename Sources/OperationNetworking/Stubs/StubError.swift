public import Foundation

/// The error of a request that ``RequestStubs`` should have answered.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum StubError: Error, Hashable, Sendable {
    /// No stub matches.
    case unmatched(method: String, url: URL?)
}

extension StubError: LocalizedError, CustomStringConvertible {
    /// One sentence, with the request; secrets of its URL are replaced by `REDACTED`.
    public var description: String {
        switch self {
        case .unmatched(let method, let url):
            "No stub answers \(method) \(url.map(Redaction.text(of:)) ?? "without a URL")."
        }
    }

    /// The sentence of ``description``.
    public var errorDescription: String? { description }
}

// MARK: - ClassifiedError

extension StubError: ClassifiedError {
    package var traits: FailureTraits {
        .mistake
    }
}
