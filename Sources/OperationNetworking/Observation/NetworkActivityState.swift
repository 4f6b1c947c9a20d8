import Foundation

/// Decides when an indicator of network activity is shown: not for a moment's work, and not off and on again
/// between two pieces of work. A value.
///
/// | phase         | activity begins          | the last activity ends   | the time has come                   | disabled |
/// |---------------|--------------------------|--------------------------|-------------------------------------|----------|
/// | idle          | delayingStart, waits     | -                        | -                                   | -        |
/// | delayingStart | -                        | -                        | active, **shows**; idle if all ended | idle     |
/// | active        | -                        | delayingEnd, waits       | -                                   | idle, **hides** |
/// | delayingEnd   | active                   | -                        | idle, **hides**                     | idle, **hides** |
///
/// While it is disabled it only counts; enabled, it goes on from there. What runs counts once, however often
/// it is said to begin; what was counted up by hand counts besides.
struct NetworkActivityState {
    enum Effect: Hashable, Sendable {
        case none
        /// Wake it with the turn after some seconds.
        case wait(TimeInterval, turn: Int)
        case show
        case hide
    }

    private enum Phase {
        case idle, delayingStart, active, delayingEnd
    }

    /// Seconds of activity before it is shown.
    var activationDelay: TimeInterval = 1
    /// Seconds without activity before it is hidden.
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

    /// Not below zero.
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

    /// A time that is no number is none: a timer would never wake for it.
    private mutating func delay(_ next: Phase, _ seconds: TimeInterval) -> Effect {
        phase = next
        turn += 1
        return .wait(seconds.isNaN ? 0 : seconds, turn: turn)
    }
}
