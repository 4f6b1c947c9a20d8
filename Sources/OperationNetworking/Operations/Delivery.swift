import Dispatch
import Foundation
import FoundationNetworking

/// Something the user is to hear on the completion queue.
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
    /// The last one.
    case finished(wasRunning: Bool)
}

/// Where callbacks come.
enum DeliveryTarget {
    case queue(DispatchQueue)
    /// The main queue, for what has no audience: see ``DeliveryLine``.
    case mainLine
}

/// What a progress closure gets.
struct ProgressReport: Hashable, Sendable {
    /// Since the last report.
    var bytes: Int
    /// Altogether, with what was there before a resumption.
    var total: Int64
    /// -1: unknown.
    var expected: Int64

    /// This one and a later one, as one.
    func merged(with later: ProgressReport) -> ProgressReport {
        ProgressReport(
            bytes: Int(Int64(bytes).addingSaturated(Int64(later.bytes))),
            total: later.total,
            expected: later.expected
        )
    }
}

/// What waits to be delivered, in order. Whoever appends to an idle one has to schedule a delivery; the delivery
/// takes all there is, and schedules another one for what came meanwhile. So events stay in order, and never overlap, on concurrent queues as well.
struct Outbox {
    private var deliveries: [Delivery] = []
    private var isScheduled = false

    /// - Returns: whether the caller has to schedule a delivery.
    mutating func append(_ delivery: Delivery) -> Bool {
        switch (delivery, deliveries.last) {
        case (.downloaded(let report), .downloaded(let waiting)?):
            deliveries[deliveries.count - 1] = .downloaded(waiting.merged(with: report))
        case (.uploaded(let report), .uploaded(let waiting)?):
            deliveries[deliveries.count - 1] = .uploaded(waiting.merged(with: report))
        default:
            deliveries.append(delivery)
        }
        defer { isScheduled = true }
        return !isScheduled
    }

    /// All that waits.
    mutating func takeAll() -> [Delivery] {
        defer { deliveries = [] }
        return deliveries
    }

    /// Whether nothing was delivered yet of an operation that has begun.
    var holdsStart: Bool {
        if case .started? = deliveries.first { true } else { false }
    }

    /// Whether another delivery has to be scheduled by the one that ends; if not, it is over.
    mutating func hasMore() -> Bool {
        isScheduled = !deliveries.isEmpty
        return isScheduled
    }
}
