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

    /// Has the closures called that were set after the end.
    func deliverLateCompletion() {
        deliver(.completed)
        // What is in the main line is told only while it is there.
        if completionQueue == nil { DispatchQueue.main.async { withExtendedLifetime(self) {} } }
    }

    func scheduleDelivery(_ target: DeliveryTarget) {
        switch target {
        case .queue(let queue): queue.async { self.empty(on: queue) }
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
    func empty(on queue: DispatchQueue) {
        let (deliveries, observers) = state.withLock { ($0.outbox.takeAll(), $0.closures.observers) }
        tell(deliveries[...], observers, on: queue)
    }

    private func tell(
        _ deliveries: ArraySlice<Delivery>,
        _ observers: [any OperationObserver],
        on queue: DispatchQueue,
        observersHeardFirst: Bool = false
    ) {
        for (index, delivery) in zip(deliveries.indices, deliveries) {
            if !observersHeardFirst || index > deliveries.startIndex {
                Self.tell(Self.notificationPoster, delivery, self)
                for observer in observers { Self.tell(observer, delivery, self) }
            }
            if !observers.isEmpty, let detour = state.withLock({ $0.outbox.takeDetour() }) {
                return detour.call(from: queue) {
                    queue.async {
                        self.tell(deliveries[index...], observers, on: queue, observersHeardFirst: true)
                    }
                }
            }
            guard let detour = call(delivery, onMain: queue === DispatchQueue.main) else { continue }
            return detour.call(from: queue) {
                queue.async {
                    if case .finished = delivery { self.didCallCompletion() }
                    self.tell(deliveries[(index + 1)...], observers, on: queue)
                }
            }
        }
        conclude()
    }

    /// Everything that was taken is told.
    private func conclude() {
        let (target, group) = state.withLock { state -> (DeliveryTarget?, DispatchGroup?) in
            guard state.outbox.hasMore() else { return (nil, state.outbox.takeGroup()) }
            return (state.configuration.deliveryTarget(for: audience(state)), nil)
        }
        if let target { scheduleDelivery(target) }
        group?.leave()
    }

    /// Calls the hooks and the closure for the delivery.
    /// - Returns: the call of the closure, if it belongs elsewhere: what comes after it has to wait for that.
    private func call(_ delivery: Delivery, onMain: Bool) -> Detour? {
        switch delivery {
        case .started, .paused, .resumed, .redirected, .retrying, .keeping, .startingOver:
            break
        case .received(let response):
            if let value = response.value { didReceive(value) }
        case .observed(let isRunning, let body):
            return body(isRunning)
        case .piece(let piece, let done):
            receive(piece, done: done)
        case .downloaded(let report):
            return state.withLock { $0.closures.downloadProgress }.flatMap {
                ProgressCall($0)(report, onMain: onMain)
            }
        case .uploaded(let report):
            return state.withLock { $0.closures.uploadProgress }.flatMap {
                ProgressCall($0)(report, onMain: onMain)
            }
        case .finished:
            if let outlets = state.withLock({ $0.outlets }) {
                outlets.finish(isSuccess: error == nil)
                outlets.publish()
            }
            didFinish()
            if let detour = callCompletion(onMain: onMain) { return detour }
            didCallCompletion()
        case .completed:
            return callCompletion(onMain: onMain)
        }
        return nil
    }

    /// The closures of the result were called.
    private func didCallCompletion() {
        state.withLock { $0.closures.completionBlock }?()
        state.withLock { $0.isDelivered = true }
        letGo()
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
        case .piece, .observed, .completed: break
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
        for operation in operations.prefix(turn) { operation.empty(on: .main) }
        let rest = operations.dropFirst(turn)
        guard !rest.isEmpty else { return }
        DispatchQueue.main.async { tell(rest) }
    }
}
