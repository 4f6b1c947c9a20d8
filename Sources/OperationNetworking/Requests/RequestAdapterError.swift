public import Foundation
internal import FoundationNetworking

/// A ``RequestAdapter`` changed what it may not: nothing was sent.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum RequestAdapterError: Error, Hashable, Sendable {
    /// Another scheme, host or port: the URL that it answered with, if there is one.
    case originChanged(URL?)
    /// Another method, by which it could not be known what may be sent again.
    case methodChanged(String?)
    /// Another stream: a stream is read once.
    case bodyStreamChanged
    /// A body where there was none, or none where there was one.
    case bodyAddedOrRemoved
    /// A field that is the library's: `Range`, `If-Range`, a condition, `Cookie` or `Host`.
    case fieldChanged(String)
}

extension RequestAdapterError: CustomStringConvertible, LocalizedError {
    /// The change, in words; secrets of a URL are replaced by `REDACTED`.
    public var description: String {
        switch self {
        case .originChanged(let url):
            "A request adapter has changed the origin of the request, to \(url.map(Redaction.text(of:)) ?? "none")."
        case .methodChanged(let method):
            "A request adapter has changed the method of the request, to \(method ?? "none")."
        case .bodyStreamChanged: "A request adapter has changed the stream of the request's body."
        case .bodyAddedOrRemoved: "A request adapter has added a body to the request, or removed it."
        case .fieldChanged(let name):
            "A request adapter has changed the field \(name), which is the library's."
        }
    }

    /// The same.
    public var errorDescription: String? { description }
}

// MARK: - ClassifiedError

extension RequestAdapterError: ClassifiedError {
    package var traits: FailureTraits { .mistake }
}
