import Dispatch
import Foundation
internal import OperationNetworkingSystem

extension ConnectionOperation {
    /// Observes every operation: notifications are posted by an observer.
    private static let notificationPoster = NotificationPoster()

    /// Whether the operation posts its notifications under their public names. `false` for an operation that
    /// serves a task or an image.
    package var postsNotifications: Bool {
        get { state.withLock { $0.postsNotifications } }
        set { state.change { $0.postsNotifications = newValue } }
    }

    /// Appends an event to the outbox and schedules its delivery.
    func deliver(_ delivery: Delivery) {
        deliver { _ in delivery }
    }

    func deliver(_ make: (inout OperationState) -> Delivery?) {
        state.withLock { state in
            let target = make(&state).flatMap { state.append($0, for: audience(state)) }
            if let target { scheduleDelivery(target) }
        }
    }

    /// Calls the closures that were set after completion.
    func deliverLateCompletion() {
        deliverOwed { $0.append(.completed, for: audience($0), isOwed: true) }
    }

    /// Makes a call after the pending callbacks. It does not count as an audience: nothing waits for it.
    func deliver(_ call: Callback) {
        state.withLock { state in
            if let target = state.append(call, for: audience(state)) { scheduleDelivery(target) }
        }
    }

    /// Makes a call on the completion queue, or on its own executor, after the pending callbacks.
    func callBack(_ call: Callback) {
        deliverOwed { $0.appendOwed(call) }
    }

    /// Delivers what `append` appends, even if it is queued behind notifications, which may be dropped.
    private func deliverOwed(_ append: (inout OperationState) -> DeliveryTarget?) {
        state.withLock { state in
            if let target = append(&state) { return scheduleDelivery(target) }
            if state.isForMainQueue, MainLine.remove(self) { scheduleDelivery(.queue(.main)) }
        }
    }

    /// Makes a call that belongs to another executor in the order of the callbacks. Within a callback, it is
    /// made when that has returned, before anything else. Otherwise it follows the pending callbacks, or is
    /// made at once if there are none.
    func callInOrder(_ call: Callback) {
        let (isTaken, queue) = state.withLock { state -> (Bool, DispatchQueue?) in
            let group = state.completionGroup
            if state.outbox.makeNext(call, entering: group) { return (true, nil) }
            guard state.outbox.isIdle else { return (false, nil) }
            _ = state.outbox.append(call, entering: group)
            state.outbox.begin()
            return (true, state.completionQueue ?? .main)
        }
        if let queue { return continueTurn(on: queue, isThere: false) }
        if !isTaken { callBack(call) }
    }

    /// Moves the deliveries that wait for a main queue, which may never run, to this queue, which has been
    /// set since.
    func deliver(on queue: DispatchQueue) {
        guard state.withLock({ $0.hasBegun }) || isFinished, MainLine.remove(self) else { return }
        state.withLock { _ in scheduleDelivery(.queue(queue)) }
    }

    /// Schedules a delivery. Called with the lock held: a completion queue that is set afterwards finds the
    /// operation in the line of the main queue.
    func scheduleDelivery(_ target: DeliveryTarget) {
        switch target {
        case .queue(let queue):
            MainQueue.noteCallback(on: queue)
            queue.async { self.empty(on: queue) }
        case .mainLine: MainLine.append(self)
        }
    }

    /// The current receivers of the operation's events on its completion queue.
    func audience(_ state: OperationState) -> Audience {
        Audience(
            hasClosures: state.closures.hasEventClosures || state.handlers.hasClosures,
            hasObservers: !state.closures.observers.isEmpty,
            isSubclass: isSubclass
        )
    }

    /// Whether the class is a user's subclass, which may override the hooks.
    var isSubclass: Bool { ObjectIdentifier(type(of: self)) != Self.ownKind }

    /// Delivers everything pending, on the completion queue. Never runs twice at the same time. Events that
    /// arrive during the turn wait for another turn, so that others can use the queue; completion does not
    /// wait: see ``conclude(_:_:on:isThere:)``.
    func empty(on queue: DispatchQueue) {
        state.withLock { $0.outbox.begin() }
        continueTurn(on: queue)
    }

    /// Makes the calls of the turn one after the other, waiting for calls on other executors to return.
    /// `isThere` says whether this thread serves the queue.
    private func continueTurn(on queue: DispatchQueue, isThere: Bool = true) {
        while true {
            let turn = state.withLock { next(&$0) }
            switch turn {
            case .step(let step):
                guard let callback = perform(step) else { continue }
                return callback.call { self.continueTurn(after: queue) }
            case .finished(let target, let group):
                return conclude(target, group, on: queue, isThere: isThere)
            }
        }
    }

    /// Continues after a call on another executor. A finished turn no longer needs its queue.
    private func continueTurn(after queue: DispatchQueue) {
        let turn = state.withLock { $0.outbox.isTurnDone ? next(&$0) : nil }
        if case .finished(let target, let group) = turn {
            conclude(target, group, on: queue, isThere: false)
        } else {
            MainQueue.noteCallback(on: queue)
            queue.async { self.continueTurn(on: queue) }
        }
    }

    private enum Turn {
        case step(Outbox.Step)
        /// The turn is finished: schedule the next one at the target, and leave the group.
        case finished(DeliveryTarget?, DispatchGroup?)
    }

    private func next(_ state: inout OperationState) -> Turn {
        if let step = state.outbox.next() { return .step(step) }
        guard state.outbox.isScheduled else { return .finished(nil, state.outbox.takeGroup()) }
        let audience = audience(state)
        // Nothing waits for notifications.
        let group = audience.needsQueue ? nil : state.outbox.takeGroupAtEnd()
        return .finished(state.deliveryTarget(for: audience), group)
    }

    /// Finishes a turn in which everything pending was delivered.
    ///
    /// A completion that arrived during the turn is delivered in the same turn of the queue. Code blocked in
    /// `waitUntilFinished()` may already be running: what it now schedules on the queue comes after the
    /// callbacks, as if they had been scheduled.
    private func conclude(
        _ target: DeliveryTarget?,
        _ group: DispatchGroup?,
        on queue: DispatchQueue,
        isThere: Bool
    ) {
        group?.leave()
        guard let target else { return }
        if isThere, case .queue(let next) = target, next.isSame(as: queue),
            state.withLock({ $0.outbox.holdsEnd })
        {
            return empty(on: queue)
        }
        // A queue may have been set since.
        let next = state.withLock { state in
            let target = state.deliveryTarget(for: audience(state))
            scheduleDelivery(target)
            return target
        }
        // The operation may have finished during a delivery, while it was not in the line. If that delivery
        // was its start, the operation is kept: its completion has to be delivered.
        if case .mainLine = next, state.withLock({ $0.isDelivered && $0.mayDrop }) {
            MainLine.end(self)
        }
    }

    /// - Returns: a callback that has to run on another executor, and that later calls have to wait for.
    private func perform(_ step: Outbox.Step) -> Callback? {
        switch step {
        case .event(let delivery):
            notify(delivery)
            return nil
        case .progress(let direction, let report):
            let call = state.withLock { state in
                direction == .download ? state.closures.downloadProgress : state.closures.uploadProgress
            }
            return call?(self, report)
        case .result:
            return callResult()
        case .completion:
            return callCompletion()?.callHere()
        case .completionBlock:
            state.withLock { $0.closures.completionBlock.take() }?()
            return nil
        case .release:
            releaseAfterCompletion(isDelivered: true)
            return nil
        case .call(let callback):
            return callback.callHere()
        }
    }

    /// Notifies observers and subclasses; the closures follow.
    private func notify(_ delivery: Delivery) {
        Self.notify(Self.notificationPoster, delivery, self)
        for observer in state.withLock({ $0.closures.observers }) { Self.notify(observer, delivery, self) }
        callHooks(delivery)
        switch delivery {
        case .isRunning(let counter):
            counter.operationDidResume(self)
        case .downloaded(let report):
            state.withLock { $0.outbox.follow(with: [.progress(.download, report)]) }
        case .uploaded(let report):
            state.withLock { $0.outbox.follow(with: [.progress(.upload, report)]) }
        case .finished, .completed:
            state.withLock { $0.outbox.follow(with: Outbox.end) }
        case .started, .paused, .resumed, .received, .piece, .redirected, .retrying, .keeping, .startingOver:
            break
        }
    }

    /// Calls the hooks of subclasses.
    private func callHooks(_ delivery: Delivery) {
        switch delivery {
        case .received(let response):
            if let value = response.value { didReceive(value) }
        case .piece(let piece, let done):
            didReceive(piece)
            done()
        case .finished:
            if let outlets = state.withLock({ $0.outlets }) {
                outlets.finish(isSuccess: error == nil)
                outlets.publish()
            }
            didFinish()
        case .started, .paused, .resumed, .redirected, .retrying, .keeping, .startingOver, .downloaded,
            .uploaded, .isRunning, .completed:
            break
        }
    }

    /// Releases the closures and leaves the batches, after completion.
    /// - Parameter isDelivered: whether completion has been delivered; if not, notifications are still
    ///   pending.
    func releaseAfterCompletion(isDelivered: Bool = false) {
        let released = state.withLock { state in
            if isDelivered { state.isCompletionDelivered = true }
            return state.takeClosures()
        }
        releaseClosures()
        report(to: released.memberships)
        withExtendedLifetime(released) {}
    }

    private static func notify(
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
        case .piece, .isRunning, .completed: break
        }
    }
}

/// The operations without an audience that wait for the main queue. Can be used on any thread.
enum MainLine {
    /// The maximum number of finished operations that are kept for a queue that may never run.
    static let limit = 256
    /// The maximum number of deliveries in a row, so that others can use the queue.
    private static let turn = 64

    private static let line = Locked(DeliveryLine<ConnectionOperation>(limit: limit))

    static func append(_ operation: ConnectionOperation) {
        let isToSchedule = line.withLock { $0.append(operation) }
        guard isToSchedule else { return }
        DispatchQueue.main.async { deliver(line.withLock { $0.takeAll() }[...]) }
    }

    /// Removes the operation from the line.
    /// - Returns: whether it was in the line, so that its events have to be delivered elsewhere.
    static func remove(_ operation: ConnectionOperation) -> Bool {
        line.withLock { $0.remove(operation) }
    }

    /// Notes that the operation has finished and none of its events was delivered.
    static func end(_ operation: ConnectionOperation) {
        let released = line.withLock { $0.end(operation) }
        // A task retains its operation, and is retained by a call about it.
        let owners = released?.state.withLock { $0.outbox.takeOwners() }
        withExtendedLifetime((released, owners)) {}
    }

    private static func deliver(_ operations: ArraySlice<ConnectionOperation>) {
        for operation in operations.prefix(turn) {
            // It may have been given a queue since it was taken out of the line.
            let isElsewhere = operation.state.withLock { state in
                guard !state.isForMainQueue, let queue = state.completionQueue else { return false }
                operation.scheduleDelivery(.queue(queue))
                return true
            }
            if !isElsewhere { operation.empty(on: .main) }
        }
        let rest = operations.dropFirst(turn)
        guard !rest.isEmpty else { return }
        DispatchQueue.main.async { deliver(rest) }
    }
}
