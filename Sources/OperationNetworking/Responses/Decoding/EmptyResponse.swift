/// A value that an empty body represents. A ``DecodableResponseSerializer`` returns it for an empty body,
/// whatever the status.
///
/// Optional values conform as well. Their value for an empty body is `nil`.
public protocol EmptyResponseRepresentable {
    /// Returns the value for an empty body.
    static func emptyResponse() -> Self
}

/// The result of a request whose response body does not matter. A ``DecodableResponseSerializer`` of this type
/// validates the status and ignores the media type and the body, which may be empty.
public struct EmptyResponse: Hashable, Codable, Sendable {
    /// Creates the only value.
    public init() {}

    /// Decodes nothing.
    public init(from decoder: any Decoder) {}

    /// Encodes an empty object.
    public func encode(to encoder: any Encoder) throws {
        _ = encoder.container(keyedBy: NoKey.self)
    }

    private enum NoKey: CodingKey {}
}

// MARK: - EmptyResponseRepresentable

extension EmptyResponse: EmptyResponseRepresentable {
    /// Returns the only value.
    public static func emptyResponse() -> EmptyResponse { EmptyResponse() }
}

extension Optional: EmptyResponseRepresentable {
    /// Returns `nil`.
    public static func emptyResponse() -> Wrapped? { nil }
}

// MARK: - Flattening

/// Flattens optionals, so that a decoded `nil` becomes a `responseObject` of `nil` and not a `nil` inside an
/// optional.
protocol Flattening {
    /// The value without its optionals.
    var flattened: Any? { get }
}

extension Optional: Flattening {
    var flattened: Any? {
        guard let self else { return nil }
        guard let nested = self as? any Flattening else { return self }
        return nested.flattened
    }
}
