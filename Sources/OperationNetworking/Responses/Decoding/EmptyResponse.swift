/// A value that an empty body stands for: what a ``DecodableResponseSerializer`` returns for one, whatever
/// the status.
///
/// Optional values are it too: their value of an empty body is `nil`.
public protocol EmptyResponseRepresentable {
    /// The value of an empty body.
    static func emptyResponse() -> Self
}

/// The result of a request of which only the success matters: any body stands for it, of any media type, and
/// none. A ``DecodableResponseSerializer`` of one judges the status, and does not look at the body.
public struct EmptyResponse: Hashable, Codable, Sendable {
    /// The only value.
    public init() {}

    /// Reads nothing.
    public init(from decoder: any Decoder) {}

    /// Writes an empty object.
    public func encode(to encoder: any Encoder) throws {
        _ = encoder.container(keyedBy: NoKey.self)
    }

    private enum NoKey: CodingKey {}
}

// MARK: - EmptyResponseRepresentable

extension EmptyResponse: EmptyResponseRepresentable {
    /// The only value.
    public static func emptyResponse() -> EmptyResponse { EmptyResponse() }
}

extension Optional: EmptyResponseRepresentable {
    /// `nil`.
    public static func emptyResponse() -> Wrapped? { nil }
}

// MARK: - Flattening

/// So that a decoded `nil` becomes an operation's `responseObject` of `nil`, and not a `nil` in an optional.
protocol Flattening {
    /// The wrapped value, out of all its optionals.
    var flattened: Any? { get }
}

extension Optional: Flattening {
    var flattened: Any? {
        guard let self else { return nil }
        guard let nested = self as? any Flattening else { return self }
        return nested.flattened
    }
}
