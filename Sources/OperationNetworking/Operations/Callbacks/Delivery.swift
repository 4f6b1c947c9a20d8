import Dispatch
import Foundation
import FoundationNetworking

/// An event that the user is to hear on the completion queue.
enum Delivery {
    case started
    case paused
    case resumed
    case received(ReceivedResponse)
    case redirected(HTTPURLResponse, URLRequest)
    case retrying(Retry)
    case keeping(Int64)
    case startingOver(RestartReason)
    /// The second tells the sink that the piece is out of the way.
    case piece(Data, @Sendable () -> Void)
    case downloaded(ProgressReport)
    case uploaded(ProgressReport)
    /// The counter was added while the operation runs.
    case isRunning(any RunCounter)
    /// The last one of a transfer.
    case finished(wasRunning: Bool)
    /// Closures for the result were set after the end.
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
    /// The main queue, for what has no audience: see ``DeliveryLine``.
    case mainLine
}
