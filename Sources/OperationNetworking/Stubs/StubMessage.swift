import Foundation

/// The status, the fields and the body of one response.
struct StubMessage: Sendable {
    var status: Int
    var fields: HeaderFields
    var body: Data
}
