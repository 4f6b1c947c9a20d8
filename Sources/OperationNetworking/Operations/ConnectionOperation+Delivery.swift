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
        let target = state.withLock { state in
            make(&state).flatMap { state.append($0, for: audience(state)) }
        }
        if let target { scheduleDelivery(target) }
    }

    func scheduleDelivery(_ target: DeliveryTarget) {
        switch target {
        case .queue(let queue): queue.async { self.empty() }
        case .mainLine: MainLine.append(self)
        }
    }

    /// The listeners of the operation on its completion queue now.
    func audience(_ state: OperationState) -> Audience {
        Audience(
            hasClosures: state.closures.hearEvents || hearsResult,
            hasObservers: !state.closures.observers.isEmpty,
            isSubclass: isSubclass
        )
    }

    /// Whether it is a subclass, which may override the hooks.
    var isSubclass: Bool { ObjectIdentifier(type(of: self)) != Self.ownKind }

    /// On the completion queue: tells everything that waits. There is never a second one at the same time.
    /// For what comes meanwhile another one is scheduled: others want the queue, too.
    func empty() {
        let (deliveries, observers) = state.withLock { ($0.outbox.takeAll(), $0.closures.observers) }
        for delivery in deliveries {
            Self.tell(Self.notificationPoster, delivery, self)
            for observer in observers { Self.tell(observer, delivery, self) }
            call(delivery)
        }
        let (target, group) = state.withLock { state -> (DeliveryTarget?, DispatchGroup?) in
            guard state.outbox.hasMore() else { return (nil, state.outbox.takeGroup()) }
            return (state.configuration.deliveryTarget(for: audience(state)), nil)
        }
        if let target { scheduleDelivery(target) }
        group?.leave()
    }

    private func call(_ delivery: Delivery) {
        switch delivery {
        case .started, .paused, .resumed, .redirected, .retrying, .keeping, .startingOver:
            break
        case .received(let response):
            if let value = response.value { didReceive(value) }
        case .observed(let isRunning, let body):
            body(isRunning)
        case .piece(let piece, let done):
            didReceive(piece)
            done()
        case .downloaded(let report):
            state.withLock { $0.closures.downloadProgress }?(report.bytes, report.total, report.expected)
        case .uploaded(let report):
            state.withLock { $0.closures.uploadProgress }?(report.bytes, report.total, report.expected)
        case .finished:
            didFinish()
            callCompletion()
            state.withLock { $0.closures.completionBlock }?()
            state.withLock { $0.isDelivered = true }
            letGo()
        }
    }

    /// Nothing is told any more: releases the closures, and leaves the batches.
    func letGo() {
        let released = state.withLock { $0.takeClosures() }
        releaseClosures()
        for seat in released.seats { seat.didFinish(self) }
        withExtendedLifetime(released) {}
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
        case .downloaded(let report):
            observer.operation(
                operation,
                didDownload: report.bytes,
                total: report.total,
                expected: report.expected
            )
        case .uploaded(let report):
            observer.operation(
                operation,
                didUpload: report.bytes,
                total: report.total,
                expected: report.expected
            )
        case .piece, .observed: break
        }
    }
}

/// The operations without an audience that wait for the main queue. Any thread.
enum MainLine {
    /// The number of ended operations that are kept, for a queue that may never run.
    static let limit = 256
    /// The number of deliveries in a row: others need the queue, too.
    private static let turn = 64

    private static let line = Locked(DeliveryLine<ConnectionOperation>(limit: limit))

    static func append(_ operation: ConnectionOperation) {
        let isToSchedule = line.withLock { $0.append(operation) }
        guard isToSchedule else { return }
        DispatchQueue.main.async { tell(line.withLock { $0.takeAll() }[...]) }
    }

    /// The operation has ended, and was told nothing.
    static func end(_ operation: ConnectionOperation) {
        let released = line.withLock { $0.end(operation) }
        withExtendedLifetime(released) {}
    }

    private static func tell(_ operations: ArraySlice<ConnectionOperation>) {
        for operation in operations.prefix(turn) { operation.empty() }
        let rest = operations.dropFirst(turn)
        guard !rest.isEmpty else { return }
        DispatchQueue.main.async { tell(rest) }
    }
}
