import Dispatch
import Foundation
internal import OperationNetworkingSystem

extension ConnectionOperation {
    /// Always there: notifications are nothing but an observer.
    private static let notificationPoster = NotificationPoster()

    /// Whether its notifications are posted under public names: not by one that works for a task or an image.
    package var postsNotifications: Bool {
        get { state.withLock { $0.postsNotifications } }
        set { state.change { $0.postsNotifications = newValue } }
    }

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

    /// Has the deliveries made on this queue, set since, that wait for a main queue which may never run.
    func deliver(on queue: DispatchQueue) {
        guard state.withLock({ $0.hasBegun }) || isFinished, MainLine.remove(self) else { return }
        queue.async { self.empty(on: queue) }
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
            hasClosures: state.closures.hearEvents || state.handlers.hearResult,
            hasObservers: !state.closures.observers.isEmpty,
            isSubclass: isSubclass
        )
    }

    /// Whether it is a subclass, which may override the hooks.
    var isSubclass: Bool { ObjectIdentifier(type(of: self)) != Self.ownKind }

    /// On the completion queue: tells everything that waits. There is never a second one at the same time.
    /// For what comes meanwhile another one is scheduled: others want the queue, too. But not for the end:
    /// see ``conclude(on:)``.
    func empty(on queue: DispatchQueue) {
        let (deliveries, observers) = state.withLock { ($0.outbox.takeAll(), $0.closures.observers) }
        tell(deliveries[...], observers, on: queue)
    }

    /// Tells them in order, the first of them from the part `first` on.
    private func tell(
        _ deliveries: ArraySlice<Delivery>,
        _ observers: [any OperationObserver],
        on queue: DispatchQueue,
        from first: Delivery.Part = .observers
    ) {
        var next = first
        // Foundation makes an object each time that it is asked for the main queue: none is the same.
        let onMain = MainQueue.isCurrent
        for (index, delivery) in zip(deliveries.indices, deliveries) {
            while next != .nothing {
                let detour = tell(&next, of: delivery, observers, onMain: onMain)
                guard let detour else { continue }
                return makeCalls(detour, from: queue) { [next] in
                    queue.async { self.tell(deliveries[index...], observers, on: queue, from: next) }
                }
            }
            next = .observers
        }
        conclude(on: queue)
    }

    /// Makes a call that belongs elsewhere, and those that are handed in by it; then comes `next`.
    private func makeCalls(
        _ call: Detour,
        from queue: DispatchQueue,
        then next: @escaping @Sendable () -> Void
    ) {
        call.call(from: queue) {
            guard let other = self.state.withLock({ $0.outbox.takeDetour() }) else { return next() }
            self.makeCalls(other, from: queue, then: next)
        }
    }

    /// Everything that was taken is told.
    ///
    /// The end that came meanwhile is told in the same turn of the queue. Who waited for the operation may go
    /// on already: what that does on the queue now comes after the callbacks, as if they had been scheduled.
    ///
    /// - Parameters:
    ///   - queue: of the callbacks that were told.
    ///   - isThere: whether this thread serves that queue now; else the end is scheduled, too.
    private func conclude(on queue: DispatchQueue, isThere: Bool = true) {
        let (detour, target, group) = state.withLock { state -> (Detour?, DeliveryTarget?, DispatchGroup?) in
            if let detour = state.outbox.takeDetour() { return (detour, nil, nil) }
            guard state.outbox.hasMore() else { return (nil, nil, state.outbox.takeGroup()) }
            let audience = audience(state)
            // Nothing waits for notifications.
            let group = audience.needsQueue ? nil : state.outbox.takeGroup()
            return (nil, state.deliveryTarget(for: audience), group)
        }
        group?.leave()
        if isThere, case .queue(let next) = target, next.isSame(as: queue),
            state.withLock({ $0.outbox.holdsEnd })
        {
            return empty(on: queue)
        }
        if let detour { makeCallsAndConclude(detour, for: queue) }
        if let target { scheduleDelivery(target) }
        // It may have ended while it was being told something, and so was not in the line. If that was its
        // start, it is kept: its end has to be told.
        if case .mainLine = target, state.withLock({ $0.isDelivered && $0.isUntold }) { MainLine.end(self) }
    }

    /// Makes a call that belongs elsewhere, between two deliveries. After it this may be any thread.
    private func makeCallsAndConclude(_ call: Detour, for queue: DispatchQueue) {
        makeCalls(call, from: queue) {
            self.conclude(on: queue, isThere: MainQueue.isCurrent && MainQueue.isItself(queue))
        }
    }

    /// Makes a call that belongs elsewhere, in the order of the operation's callbacks: in a callback when
    /// that has returned, and before anything else is told.
    func makeInOrder(_ call: Detour) {
        let (isNow, target, queue) = state.withLock { state -> (Bool, DeliveryTarget?, DispatchQueue) in
            let queue = state.completionQueue ?? .main
            switch state.outbox.take(call, entering: state.completionGroup) {
            case .now: return (true, nil, queue)
            case .afterCallback: return (false, nil, queue)
            case .afterDeliveries:
                let audience = Audience(hasClosures: true, hasObservers: false, isSubclass: false)
                return (false, state.append(.call(call), for: audience), queue)
            }
        }
        if isNow { makeCallsAndConclude(call, for: queue) }
        if let target { scheduleDelivery(target) }
        // As a late completion: what is in the main line is told only while it is there.
        if !isNow, target == nil, completionQueue == nil {
            DispatchQueue.main.async { withExtendedLifetime(self) {} }
        }
    }

    /// Tells the next part of a delivery.
    /// - Returns: a call that has to be made elsewhere: what comes after it has to wait for that.
    private func tell(
        _ part: inout Delivery.Part,
        of delivery: Delivery,
        _ observers: [any OperationObserver],
        onMain: Bool
    ) -> Detour? {
        switch part {
        case .observers:
            part = .hooks
            Self.tell(Self.notificationPoster, delivery, self)
            guard !observers.isEmpty else { return nil }
            for observer in observers { Self.tell(observer, delivery, self) }
            return state.withLock { $0.outbox.takeDetour() }
        case .hooks:
            part = .closures
            callHooks(delivery)
            return isSubclass ? state.withLock { $0.outbox.takeDetour() } : nil
        case .closures:
            part = delivery.isEnd ? .completionBlock : .nothing
            return callClosure(delivery, onMain: onMain)
        case .completionBlock:
            let (detour, block) = state.withLock { state -> (Detour?, (@Sendable () -> Void)?) in
                if let detour = state.outbox.takeDetour() { return (detour, nil) }
                defer { state.closures.completionBlock = nil }
                return (nil, state.closures.completionBlock)
            }
            if let detour { return detour }
            part = .release
            guard let block else { return nil }
            block()
            return state.withLock { $0.outbox.takeDetour() }
        case .release:
            part = .nothing
            letGo(isTold: true)
            return nil
        case .nothing:
            return nil
        }
    }

    /// Calls the hooks of subclasses.
    private func callHooks(_ delivery: Delivery) {
        switch delivery {
        case .received(let response):
            if let value = response.value { didReceive(value) }
        case .piece(let piece, let done):
            receive(piece, done: done)
        case .finished:
            if let outlets = state.withLock({ $0.outlets }) {
                outlets.finish(isSuccess: error == nil)
                outlets.publish()
            }
            didFinish()
        case .started, .paused, .resumed, .redirected, .retrying, .keeping, .startingOver, .downloaded,
            .uploaded, .isRunning, .completed, .call:
            break
        }
    }

    /// Calls the closure for the delivery.
    /// - Returns: the call of the closure, if it belongs elsewhere, or one that was handed in.
    private func callClosure(_ delivery: Delivery, onMain: Bool) -> Detour? {
        switch delivery {
        case .started, .paused, .resumed, .received, .piece, .redirected, .retrying, .keeping, .startingOver:
            return nil
        case .isRunning(let counter):
            counter.operationDidResume(self)
            return nil
        case .call(let call):
            return call
        case .downloaded(let report):
            return callProgress(state.withLock { $0.closures.downloadProgress }, report, onMain: onMain)
        case .uploaded(let report):
            return callProgress(state.withLock { $0.closures.uploadProgress }, report, onMain: onMain)
        case .finished, .completed:
            return callCompletion(onMain: onMain)
        }
    }

    private func callProgress(_ handler: ProgressCall?, _ report: ProgressReport, onMain: Bool) -> Detour? {
        guard let handler else { return nil }
        return handler(self, report, onMain: onMain) ?? state.withLock { $0.outbox.takeDetour() }
    }

    /// The end counts: releases the closures, and leaves the batches.
    /// - Parameter isTold: whether the end was told; else notifications are left.
    func letGo(isTold: Bool = false) {
        let released = state.withLock { state in
            if isTold { state.isTold = true }
            return state.takeClosures()
        }
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
        case .piece, .isRunning, .completed, .call: break
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

    /// Takes the operation out of the line.
    /// - Returns: whether it was in it, and so is to be told elsewhere.
    static func remove(_ operation: ConnectionOperation) -> Bool {
        line.withLock { $0.remove(operation) }
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
