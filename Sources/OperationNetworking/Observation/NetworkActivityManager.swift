public import Dispatch
public import Foundation
internal import OperationNetworkingSystem

/// Reports when an indicator of network activity should be visible: from one second after activity begins
/// until 0.17 seconds after it ends, with one call per change.
///
/// ```swift
/// NetworkActivityManager.shared.setNetworkingActivityAction { isActive in lamp.isOn = isActive }
/// NetworkActivityManager.shared.isEnabled = true
/// ```
///
/// | Manager        | Counts                                                                              |
/// |----------------|-------------------------------------------------------------------------------------|
/// | ``shared``     | every operation of the process, by notifications, from the first use of ``shared``  |
/// | another one    | the operations that it observes, directly or as an observer of their manager        |
///
/// It is an ``OperationObserver``, so add it to operations, managers and sessions with `addObserver(_:)`. Do
/// not call the observer's methods yourself:
///
/// ```swift
/// operation.addObserver(NetworkActivityManager { isActive in spinner.isSpinning = isActive })
/// ```
///
/// An operation counts while it runs, but not while it is queued or paused. An operation that is already
/// running when this observer is added counts from then on; after the observer is removed, it no longer
/// counts. Every member can be used from any thread. ``shared`` observes the operations' notifications. In a
/// program that never runs its main queue, it does not count operations without a `completionQueue`, because
/// their notifications wait for that queue.
public final class NetworkActivityManager: Sendable {
    /// Calls a closure after some seconds, on any thread.
    typealias Wait = @Sendable (_ seconds: TimeInterval, _ body: @escaping @Sendable () -> Void) -> Void

    private struct Observed {
        weak var operation: ConnectionOperation?
    }

    private struct State {
        var activity = NetworkActivityState()
        /// The running operations that this observes. Empty for ``shared``, which receives their ends as
        /// notifications.
        var observed: [ObjectIdentifier: Observed] = [:]
        var action: (@isolated(any) @Sendable (Bool) -> Void)?
        var completionQueue: DispatchQueue?
        var pending = NewestValue<Bool>()
        var tokens: [any NSObjectProtocol] = []
    }

    /// The manager for all operations of the process.
    public static let shared: NetworkActivityManager = {
        let manager = NetworkActivityManager()
        manager.observeNotifications()
        return manager
    }()

    private static let timers = DispatchQueue(label: "OperationNetworking.activity")

    private let state = Locked(State())
    private let wait: Wait

    /// Creates a manager for the operations that it is added to with ``ConnectionOperation/addObserver(_:)``
    /// or ``OperationManager/addObserver(_:)``.
    public convenience init() {
        self.init { seconds, body in Self.timers.asyncAfter(deadline: .now() + seconds, execute: body) }
    }

    /// Creates an enabled manager with an action, for the operations that it is added to.
    ///
    /// The operations retain it until they have finished, so it needs no other owner.
    ///
    /// - Parameters:
    ///   - activationDelay: the seconds of activity before the indicator is shown. Defaults to 1.
    ///   - completionDelay: the seconds without activity before the indicator is hidden. Defaults to 0.17.
    ///   - action: as for ``setNetworkingActivityAction(_:)``.
    public convenience init(
        activationDelay: TimeInterval = 1,
        completionDelay: TimeInterval = 0.17,
        @_inheritActorContext action: @escaping @isolated(any) @Sendable (_ isActive: Bool) -> Void
    ) {
        self.init()
        (self.activationDelay, self.completionDelay) = (activationDelay, completionDelay)
        setNetworkingActivityAction(action)
        isEnabled = true
    }

    init(wait: @escaping Wait) {
        self.wait = wait
    }

    deinit {
        for token in state.withLock({ $0.tokens }) { NotificationCenter.default.removeObserver(token) }
    }

    // MARK: - Configuration

    /// Whether activity is shown. Defaults to `false`. Operations that are running when it is enabled count.
    public var isEnabled: Bool {
        get { state.withLock { $0.activity.isEnabled } }
        set { apply { $0.setEnabled(newValue) } }
    }

    /// The seconds of activity before the indicator is shown. Defaults to 1; 0 shows activity at once. A new
    /// value applies to the next activity.
    public var activationDelay: TimeInterval {
        get { state.withLock { $0.activity.activationDelay } }
        set { state.withLock { $0.activity.activationDelay = newValue } }
    }

    /// The seconds without activity before the indicator is hidden. Defaults to 0.17; 0 hides it at once. A
    /// new value applies to the next end of activity.
    public var completionDelay: TimeInterval {
        get { state.withLock { $0.activity.completionDelay } }
        set { state.withLock { $0.activity.completionDelay = newValue } }
    }

    /// The queue of the action; `nil` (the default) is the main queue. Read when a call is due.
    public var completionQueue: DispatchQueue? {
        get { state.withLock { $0.completionQueue } }
        set { state.change { $0.completionQueue = newValue } }
    }

    /// Sets the closure that is called on ``completionQueue`` once per change: with `true` when activity
    /// should be shown, and `false` when it should be hidden. A slow queue receives only the newest value,
    /// and none if that equals the last one received. A closure written in main-actor code is called on the
    /// main queue.
    public func setNetworkingActivityAction(
        @_inheritActorContext _ block: (@isolated(any) @Sendable (_ isActive: Bool) -> Void)?
    ) {
        state.change { $0.action = block }
    }

    // MARK: - State

    /// Whether activity should be shown now.
    public var isNetworkActivityIndicatorVisible: Bool { state.withLock { $0.activity.isVisible } }

    // MARK: - Other activity

    /// Counts an activity other than an operation.
    public func incrementActivityCount() {
        apply { $0.increment() }
    }

    /// Ends such an activity. Does nothing if there is none.
    public func decrementActivityCount() {
        apply { $0.decrement() }
    }

    // MARK: - Helpers

    private func observeNotifications() {
        let starts: [Notification.Name] = [.operationDidStart, .innerOperationDidStart]
        let ends: [Notification.Name] = [.operationDidFinish, .innerOperationDidFinish]
        let tokens = (starts + ends).map { name in
            NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { [weak self] in
                guard let operation = $0.object as? ConnectionOperation else { return }
                let activity = ObjectIdentifier(operation)
                self?.apply { starts.contains(name) ? $0.begin(activity) : $0.end(activity) }
            }
        }
        state.withLock { $0.tokens = tokens }
    }

    private func begin(_ operation: ConnectionOperation) {
        let activity = ObjectIdentifier(operation)
        change { state in
            if state.tokens.isEmpty { state.observed[activity] = Observed(operation: operation) }
            return state.activity.begin(activity)
        }
        // This observer may have been removed from the operation while the event was being delivered. A later
        // removal sees the count.
        reconsider(operation)
    }

    private func end(_ operation: ConnectionOperation) {
        let activity = ObjectIdentifier(operation)
        change { state in
            state.observed[activity] = nil
            return state.activity.end(activity)
        }
    }

    private func apply(_ event: (inout NetworkActivityState) -> NetworkActivityState.Effect) {
        change { event(&$0.activity) }
    }

    private func change(_ event: (inout State) -> NetworkActivityState.Effect) {
        // In one critical section, so that changes are reported in order.
        let (effect, isToSchedule) = state.withLock { state in
            let effect = event(&state)
            switch effect {
            case .none, .wait: return (effect, false)
            case .show: return (effect, state.pending.offer(true))
            case .hide: return (effect, state.pending.offer(false))
            }
        }
        if case .wait(let seconds, let turn) = effect {
            // Not weakly: the last operation that retained this may have been released when the indicator has
            // to be hidden.
            wait(seconds) { self.apply { $0.wake(turn: turn) } }
        }
        if isToSchedule { scheduleDelivery() }
    }

    private func scheduleDelivery() {
        (completionQueue ?? .main).async { self.deliver() }
    }

    private func deliver() {
        let (isActive, action) = state.withLock { ($0.pending.take(), $0.action) }
        guard let isActive, let action else { return conclude() }
        guard let call = Callback.here(action, isActive) else {
            return conclude()
        }
        call.call { self.conclude() }
    }

    private func conclude() {
        let hasMore = state.withLock { $0.pending.hasMore() }
        if hasMore { scheduleDelivery() }
    }
}

// MARK: - RunCounter

extension NetworkActivityManager: RunCounter {
    func reconsider(_ operation: ConnectionOperation) {
        let isCounted = state.withLock { $0.observed[ObjectIdentifier(operation)] != nil }
        guard isCounted, !operation.notifies(self) else { return }
        end(operation)
        // Another thread may have added this observer again while the operation was still counted.
        if operation.notifies(self) { operation.notify(self) }
    }

    func reconsiderAll() {
        for operation in state.withLock({ $0.observed.values.compactMap(\.operation) }) {
            reconsider(operation)
        }
    }
}

// MARK: - OperationObserver

extension NetworkActivityManager: OperationObserver {
    /// Counts the operation.
    public func operationDidStart(_ operation: ConnectionOperation) {
        begin(operation)
    }

    /// Stops counting it.
    public func operationDidPause(_ operation: ConnectionOperation) {
        end(operation)
    }

    /// Counts it again.
    public func operationDidResume(_ operation: ConnectionOperation) {
        begin(operation)
    }

    /// Stops counting it.
    public func operationDidFinish(_ operation: ConnectionOperation, wasRunning: Bool) {
        end(operation)
    }
}

/// Decides when an indicator of network activity is shown: not for brief activity, and without flicker
/// between two activities. A value.
///
/// | phase         | activity begins          | the last activity ends   | the delay has passed                | disabled |
/// |---------------|--------------------------|--------------------------|-------------------------------------|----------|
/// | idle          | delayingStart, waits     | -                        | -                                   | -        |
/// | delayingStart | -                        | -                        | active, **shows**; idle if all ended | idle     |
/// | active        | -                        | delayingEnd, waits       | -                                   | idle, **hides** |
/// | delayingEnd   | active                   | -                        | idle, **hides**                     | idle, **hides** |
///
/// If the delay is 0, negative or not a number, it passes at once. While disabled, it only counts, and
/// continues from there when enabled. A running operation counts once, however often it begins; manually
/// counted activities count in addition.
struct NetworkActivityState {
    enum Effect: Hashable, Sendable {
        case none
        /// Call ``wake(turn:)`` with this turn after some seconds.
        case wait(TimeInterval, turn: Int)
        case show
        case hide
    }

    private enum Phase {
        case idle, delayingStart, active, delayingEnd
    }

    /// The seconds of activity before the indicator is shown.
    var activationDelay: TimeInterval = 1
    /// The seconds without activity before the indicator is hidden.
    var completionDelay: TimeInterval = 0.17
    private(set) var isEnabled = false
    private var phase = Phase.idle
    private var running: Set<ObjectIdentifier> = []
    private var count = 0
    private var turn = 0

    var isOccurring: Bool { !running.isEmpty || count > 0 }

    var isVisible: Bool {
        switch phase {
        case .idle, .delayingStart: false
        case .active, .delayingEnd: true
        }
    }

    // MARK: - Events

    mutating func begin(_ activity: ObjectIdentifier) -> Effect {
        running.insert(activity)
        return advance()
    }

    mutating func end(_ activity: ObjectIdentifier) -> Effect {
        running.remove(activity)
        return advance()
    }

    mutating func increment() -> Effect {
        count += 1
        return advance()
    }

    /// Decrements the count, but not below zero.
    mutating func decrement() -> Effect {
        count = max(0, count - 1)
        return advance()
    }

    mutating func wake(turn: Int) -> Effect {
        guard turn == self.turn else { return .none }
        switch phase {
        case .idle, .active:
            return .none
        case .delayingStart:
            phase = isOccurring ? .active : .idle
            return isOccurring ? .show : .none
        case .delayingEnd:
            phase = .idle
            return .hide
        }
    }

    mutating func setEnabled(_ isEnabled: Bool) -> Effect {
        guard isEnabled != self.isEnabled else { return .none }
        self.isEnabled = isEnabled
        guard !isEnabled else { return advance() }
        let wasVisible = isVisible
        phase = .idle
        turn += 1
        return wasVisible ? .hide : .none
    }

    private mutating func advance() -> Effect {
        guard isEnabled else { return .none }
        switch (phase, isOccurring) {
        case (.idle, true): return delay(.delayingStart, activationDelay)
        case (.active, false): return delay(.delayingEnd, completionDelay)
        case (.delayingEnd, true):
            phase = .active
            turn += 1
            return .none
        case (.idle, false), (.delayingStart, _), (.active, true), (.delayingEnd, false):
            return .none
        }
    }

    private mutating func delay(_ next: Phase, _ seconds: TimeInterval) -> Effect {
        phase = next
        turn += 1
        return seconds > 0 ? .wait(seconds, turn: turn) : wake(turn: turn)
    }
}
