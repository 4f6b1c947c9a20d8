import Foundation

/// The results of an operation: the head while the body comes, the rest with the end.
struct OperationResults {
    var response: ReceivedResponse?
    var error: (any Error)?
    private(set) var responseObject: (any Sendable)?
    private var end: ExchangeEnd?

    /// Whether the object is not there because an archive has no serializer that could make it.
    private(set) var lacksSerializer = false

    var responseData: Data? { end?.data }

    var metrics: TransferLog? { end?.metrics }

    /// The end is one of an earlier process.
    mutating func restore(_ end: ExchangeEnd, hasSerializer: Bool) {
        take(end)
        lacksSerializer = !hasSerializer
    }

    /// The exchange has ended. Whether that is a success is said by the evaluation.
    mutating func take(_ end: ExchangeEnd) {
        self.end = end
    }

    /// The response was evaluated.
    mutating func take(_ evaluation: (object: (any Sendable)?, error: (any Error)?)) {
        responseObject = evaluation.object
        lacksSerializer = false
        error = evaluation.error
    }
}
