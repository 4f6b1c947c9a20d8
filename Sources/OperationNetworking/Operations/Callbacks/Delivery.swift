import Dispatch
import Foundation
import FoundationNetworking

/// An event to deliver on the completion queue.
enum Delivery {
    case started
    case paused
    case resumed
    case received(ReceivedResponse)
    case redirected(HTTPURLResponse, URLRequest)
    case retrying(Retry)
    case keeping(Int64)
    case startingOver(RestartReason)
    /// The closure notifies the sink that the piece has been delivered.
    case piece(Data, @Sendable () -> Void)
    case downloaded(ProgressReport)
    case uploaded(ProgressReport)
    /// The counter was added while the operation was running.
    case isRunning(any RunCounter)
    /// The last event of an operation.
    case finished(wasRunning: Bool)
    /// Completion handlers were set after completion.
    case completed

    /// The two events merged into one; `nil` if both are delivered.
    func merged(with next: Delivery) -> Delivery? {
        switch (self, next) {
        case (.downloaded(let report), .downloaded(let next)): .downloaded(report.merged(with: next))
        case (.uploaded(let report), .uploaded(let next)): .uploaded(report.merged(with: next))
        default: nil
        }
    }
}

/// The queue of callbacks.
enum DeliveryTarget {
    case queue(DispatchQueue)
    /// The main queue, for operations without an audience: see ``DeliveryLine``.
    case mainLine
}
