public import Foundation
internal import FoundationNetworking

/// A ``RequestAdapter`` made a change that is not allowed. Nothing was sent.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum RequestAdapterError: Error, Hashable, Sendable {
    /// It changed the scheme, host or port. The associated value is the URL that it returned, if any.
    case originChanged(URL?)
    /// It changed the method, which determines whether the request can be retried.
    case methodChanged(String?)
    /// It changed the body stream, which can be read only once.
    case bodyStreamChanged
    /// It added or removed a body.
    case bodyAddedOrRemoved
    /// It changed a field that the library manages: `Range`, `If-Range`, a condition, `Cookie` or `Host`.
    case fieldChanged(String)
}

extension RequestAdapterError: CustomStringConvertible, LocalizedError {
    /// One sentence; secrets in a URL are replaced by `REDACTED`.
    public var description: String {
        switch self {
        case .originChanged(let url):
            "A request adapter changed the origin of the request to \(url.map(Redaction.text(of:)) ?? "none")."
        case .methodChanged(let method):
            "A request adapter changed the method of the request to \(method ?? "none")."
        case .bodyStreamChanged: "A request adapter changed the body stream of the request."
        case .bodyAddedOrRemoved: "A request adapter added or removed the body of the request."
        case .fieldChanged(let name):
            "A request adapter changed the field \(name), which the library manages."
        }
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}

// MARK: - ClassifiedError

extension RequestAdapterError: ClassifiedError {
    package var traits: FailureTraits { .mistake }
}
