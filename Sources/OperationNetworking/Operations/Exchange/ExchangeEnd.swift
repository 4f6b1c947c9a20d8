import Foundation

/// The end of an exchange. A class, because it is passed on several times and kept in the results: an
/// operation waiting in a queue then only needs space for a reference.
final class ExchangeEnd: Sendable {
    /// `nil` if there is a response with a complete body.
    let error: (any Error)?
    /// The body, or the part of it that was received, if it is in memory.
    let data: Data?
    let metrics: TransferLog
    /// Whether the error is only about the body: if the serializer rejects the status, that is the error
    /// instead.
    let statusComesFirst: Bool

    init(error: (any Error)?, data: Data?, metrics: TransferLog, statusComesFirst: Bool = false) {
        self.error = error
        self.data = data
        self.metrics = metrics
        self.statusComesFirst = statusComesFirst
    }

    /// Returns the same end with `data`, if it has none.
    func orData(_ data: Data?) -> ExchangeEnd {
        guard self.data == nil, let data else { return self }
        return ExchangeEnd(error: error, data: data, metrics: metrics, statusComesFirst: statusComesFirst)
    }
}
