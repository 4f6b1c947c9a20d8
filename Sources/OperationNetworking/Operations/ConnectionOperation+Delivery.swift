import Dispatch
import Foundation
internal import OperationNetworkingSystem

extension ConnectionOperation {
    /// Always there: notifications are nothing but an observer.
    private static let notificationPoster = NotificationPoster()

    /// Puts something into the outbox and sees to it that it is delivered.
    func deliver(_ delivery: Delivery) {
        deliver { _ in delivery }
    }

    func deliver(_ make: (inout OperationState) -> Delivery?) {
        let target = state.withLock { state in make(&state).flatMap { state.append($0) } }
        if let target { scheduleDelivery(target) }
    }

    func scheduleDelivery(_ target: DeliveryTarget) {
        target.queue.async(group: target.group) { self.empty() }
    }

    /// On the completion queue: tells everything that waits. There is never a second one at the same time. For what comes
    /// meanwhile another one is scheduled: others want the queue, too.
    private func empty() {
        let (deliveries, observers) = state.withLock { ($0.outbox.takeAll(), $0.observers) }
        for delivery in deliveries {
            Self.tell(Self.notificationPoster, delivery, self)
            for observer in observers { Self.tell(observer, delivery, self) }
            call(delivery)
        }
        if let target = state.withLock({ $0.outbox.hasMore() ? $0.deliveryTarget : nil }) {
            scheduleDelivery(target)
        }
    }

    private func call(_ delivery: Delivery) {
        switch delivery {
        case .started, .paused, .resumed, .redirected, .retrying, .keeping, .startingOver:
            break
        case .received(let response):
            if let value = response.value { didReceive(value) }
        case .piece(let piece, let done):
            didReceive(piece)
            done()
        case .downloaded(let report):
            state.withLock { $0.downloadProgress }?(report.bytes, report.total, report.expected)
        case .uploaded(let report):
            state.withLock { $0.uploadProgress }?(report.bytes, report.total, report.expected)
        case .finished:
            didFinish()
            callCompletion()
            state.withLock { $0.completionBlock }?()
            let (seats, closures) = state.withLock { state in
                state.isDelivered = true
                return (state.seats, state.takeClosures())
            }
            for seat in seats { seat.didFinish(self) }
            withExtendedLifetime(closures) {}
        }
    }

    private static func tell(
        _ observer: any OperationObserver,
        _ delivery: Delivery,
        _ operation: ConnectionOperation
    ) {
        switch delivery {
        case .started: observer.operationDidStart(operation)
        case .paused: observer.operationDidPause(operation)
        case .resumed: observer.operationDidResume(operation)
        case .received(let response):
            if let value = response.value { observer.operation(operation, didReceive: value) }
        case .redirected(let redirect, let request):
            observer.operation(operation, didFollow: redirect, to: request)
        case .keeping(let offset): observer.operation(operation, didResumeAt: offset)
        case .startingOver(let reason): observer.operation(operation, willStartOverBecause: reason)
        case .retrying(let retry): observer.operation(operation, willRetry: retry)
        case .finished(let wasRunning): observer.operationDidFinish(operation, wasRunning: wasRunning)
        case .downloaded, .uploaded, .piece: break
        }
    }

    /// Makes the operation a member of a batch.
    func take(_ seat: BatchSeat) {
        let isDelivered = state.withLock { state in
            if !state.isDelivered { state.seats.append(seat) }
            return state.isDelivered
        }
        if isDelivered { seat.didFinish(self) }
    }
}
