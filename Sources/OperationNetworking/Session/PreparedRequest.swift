import FoundationNetworking

/// The request of a task with what the session adds, or why that cannot be sent: the error of the task once
/// it is resumed.
struct PreparedRequest: Sendable {
    private let prepared: Result<URLRequest, RequestSerializationError>
    /// The request as far as it could be made, for `originalRequest`.
    let shown: URLRequest

    init(_ request: URLRequest, by session: SessionCore) {
        prepared = Result { () throws(RequestSerializationError) in try session.prepare(request) }
        shown = (try? prepared.get()) ?? request
    }

    var request: URLRequest {
        get throws(RequestSerializationError) { try prepared.get() }
    }
}
