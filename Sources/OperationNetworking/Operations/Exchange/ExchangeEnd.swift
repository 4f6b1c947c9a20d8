import Foundation

/// The end of an exchange.
struct ExchangeEnd: Sendable {
    /// `nil`: there is a response, and its body is complete.
    var error: (any Error)?
    /// The body, or as much of it as came, if it is in memory.
    var data: Data?
    var metrics: TransferLog
}
