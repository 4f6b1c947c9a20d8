import Foundation

/// The end of an exchange. An object, since it is handed on several times, and kept in the results: an
/// operation that waits in a queue has room for a reference.
final class ExchangeEnd: Sendable {
    /// `nil`: there is a response, and its body is complete.
    let error: (any Error)?
    /// The body, or as much of it as came, if it is in memory.
    let data: Data?
    let metrics: TransferLog
    /// Whether the error is only about the body: a status that the serializer refuses is the reason, and the
    /// error if it does not.
    let statusComesFirst: Bool

    init(error: (any Error)?, data: Data?, metrics: TransferLog, statusComesFirst: Bool = false) {
        self.error = error
        self.data = data
        self.metrics = metrics
        self.statusComesFirst = statusComesFirst
    }

    /// The same with `data`, if it has none.
    func orData(_ data: Data?) -> ExchangeEnd {
        guard self.data == nil, let data else { return self }
        return ExchangeEnd(error: error, data: data, metrics: metrics, statusComesFirst: statusComesFirst)
    }
}
