import Foundation

/// The status, the fields and the body of one response.
struct StubMessage: Sendable {
    var status: Int
    var fields: HeaderFields
    var body: Data
    /// Whether the `Content-Type` is that of the kind of body, for which a field of the caller's stands.
    var hasDefaultType = false
}
