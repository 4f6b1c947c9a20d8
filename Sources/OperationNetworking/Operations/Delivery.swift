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
    /// A call that belongs elsewhere was handed in.
    case call(Detour)

    /// Whether the closures of the result are called.
    var isEnd: Bool {
        switch self {
        case .finished, .completed: true
        case .started, .paused, .resumed, .received, .redirected, .retrying, .keeping, .startingOver, .piece,
            .downloaded, .uploaded, .isRunning, .call:
            false
        }
    }

    /// The parts of telling a delivery, in order.
    enum Part {
        /// Notifications, too.
        case observers
        /// The methods that a subclass overrides.
        case hooks
        case closures
        case completionBlock
        /// Of the closures.
        case release
        case nothing
    }
}

/// The queue of callbacks.
enum DeliveryTarget {
    case queue(DispatchQueue)
    /// The main queue, for what has no audience: see ``DeliveryLine``.
    case mainLine
}
