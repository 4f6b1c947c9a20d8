import Dispatch
import Foundation
import FoundationNetworking
import Glibc
import OperationNetworking

/// Fetches the items, a limited number at a time, and ends the process.
///
/// An item is examined, and its operation created, when it is started, so that a list of 100,000 items uses
/// neither descriptors nor operations in advance.
final class Run: @unchecked Sendable {
    // @unchecked: after init everything happens on `queue`, except `stopAtOnce`, which uses the terminal, a
    // constant whose keyboard has its own lock.

    /// The maximum wait for cancelled operations.
    private static let stopTimeout = 1.8

    /// A request to stop the run early.
    private struct StopRequest {
        /// The outcome of the first request, if any.
        var outcome: Outcome?
        /// The first signal, if any.
        var signal: Int32?
    }

    let queue = DispatchQueue(label: "opget.run")
    let operations = OperationQueue()
    let settings: Settings
    private let terminal: RunTerminal
    private let continuation: Continuation

    var items: ItemLine
    var running: [Int: Transfer] = [:]
    var reporter: Reporter
    private var events: EventWriter?
    var tally: Tally
    private var meter: ThroughputMeter
    private var clock: RunClock
    private var pauseState = PauseState()
    private var stopRequest = StopRequest()
    /// Whether starting the remaining items is already scheduled.
    var isFillingLater = false

    init(_ items: [Item], settings: Settings, outlets: RunOutlets) {
        self.items = ItemLine(items)
        self.settings = settings
        terminal = RunTerminal(outlets)
        reporter = outlets.reporter
        events = outlets.events
        continuation = outlets.continuation
        tally = Tally(count: items.count)
        let now = Self.now
        meter = ThroughputMeter(now: now)
        clock = RunClock(now: now)
        operations.maxConcurrentOperationCount = settings.concurrency
    }

    static var now: Double { RunClock.now }

    var isPaused: Bool { pauseState.isPaused }

    /// The requested outcome; `nil` if the run should complete.
    var stopOutcome: Outcome? { stopRequest.outcome }

    // MARK: - Commands, from any thread

    /// Starts the run. The process ends when everything is done.
    func begin() {
        queue.async { [self] in
            clock.begin(on: queue) { [self] in tick() }
            terminal.keyboard?.open()
            emit(RunStarted(items: items.count, jobs: settings.concurrency))
            fill()
        }
    }

    /// Cancels running transfers and keeps their data. The process ends with `outcome` when the data is on
    /// disk.
    func stop(_ outcome: Outcome) {
        queue.async { [self] in halt(outcome) }
        stopAtOnce(outcome, after: Self.stopTimeout, signal: nil)
    }

    /// The same because of a signal, which then ends the process.
    func stop(by signal: Int32) {
        queue.async { [self] in
            stopRequest.signal = stopRequest.signal ?? signal
            halt(.signal(signal))
        }
        stopAtOnce(.signal(signal), after: Self.stopTimeout, signal: signal)
    }

    private func stopAtOnce(_ outcome: Outcome, after delay: Double, signal: Int32?) {
        DispatchQueue.global().asyncAfter(deadline: .now() + delay) { [self] in
            stopAtOnce(outcome, signal: signal)
        }
    }

    /// The same, on the run's queue.
    func halt(_ outcome: Outcome) {
        guard stopOutcome == nil else { return }
        stopRequest.outcome = outcome
        for transfer in running.values { transfer.stream?.release() }
        operations.cancelAllOperations()
        // A cancelled operation that has not started finishes when the queue starts it.
        operations.isSuspended = false
        finishIfDone()
    }

    /// Ends the process, by `signal` if that requested it. Received data is in files, and its metadata is
    /// written atomically.
    func stopAtOnce(_ outcome: Outcome, signal: Int32?) {
        terminal.giveBackAtOnce()
        ProcessEnd(outcome, after: signal).happen()
    }

    /// Restores the terminal before the process is stopped.
    func suspend() {
        let group = DispatchGroup()
        queue.async(group: group) { [self] in
            pauseState.suspend()
            reporter.clear()
            terminal.keyboard?.close()
        }
        // A reader that does not read, or Ctrl-S, may block the queue, but the process has to stop anyway.
        if group.wait(timeout: .now() + Self.stopTimeout) == .timedOut { terminal.keyboard?.close() }
    }

    /// Continues after the process was stopped. Called after ``suspend()``, and for every SIGCONT.
    func resume() {
        queue.async { [self] in
            let now = Self.now
            if pauseState.resume(now: now) { reporter.forget() }
            meter.skip(to: now)
            for index in running.keys { running[index]?.skip(to: now) }
            tick()
        }
    }

    /// Called when the terminal's size has changed, so that it is noticed before the next frame.
    func redraw() {
        queue.async { [self] in draw(Self.now) }
    }

    // MARK: - Keys

    private func press(_ key: KeyCommand) {
        switch key {
        case .pause: isPaused ? resumeTransfers() : pause()
        case .quit: stopOutcome == nil ? stop(.signal(SIGINT)) : stopAtOnce(.signal(SIGINT), signal: nil)
        }
    }

    /// First suspend the queue, because paused operations free slots.
    private func pause() {
        guard stopOutcome == nil else { return }
        pauseState.isPaused = true
        operations.isSuspended = true
        let now = Self.now
        for index in running.keys { running[index]?.pause(now: now) }
        reporter.showUnlessDrawn("Paused. Press p to resume.")
        emit(RunPaused(running: running.count))
    }

    private func resumeTransfers() {
        let now = Self.now
        pauseState.isPaused = false
        for index in running.keys { running[index]?.resumeAfterPause(now: now) }
        operations.isSuspended = false
        reporter.showUnlessDrawn("Resumed.")
        emit(RunResumed(running: running.count))
        fill()
    }

    // MARK: - Progress

    private func tick() {
        let now = Self.now
        settings.access.saveCookiesSoon()
        if !pauseState.isSuspended, let keyboard = terminal.keyboard {
            // The process may have come to the foreground.
            keyboard.open()
            for key in keyboard.pressed() { press(key) }
        }
        if let limit = settings.maximumTime {
            for index in running.keys { running[index]?.end(after: limit, now: now) }
        }
        let batch = draw(now)
        if clock.isSummaryDue(now), !isPaused { reporter.summarize(batch) }
        if clock.areEventsDue(now) {
            for index in running.keys.sorted() {
                if let event = running[index]?.progressEvent(index) { emit(event) }
            }
        }
    }

    @discardableResult
    private func draw(_ now: Double) -> BatchState {
        var states: [TransferState] = []
        for index in running.keys.sorted() {
            if let state = running[index]?.state(now: now) { states.append(state) }
        }
        let batch = batch(states, now)
        if !pauseState.isSuspended { reporter.draw(states, batch, now: now) }
        return batch
    }

    private func batch(_ states: [TransferState], _ now: Double) -> BatchState {
        let received = states.reduce(Int64(0)) { $0.addingSaturated($1.received) }
        let expected = states.reduce(Int64?(0)) { sum, state in
            sum.flatMap { sum in state.expected.map { sum.addingSaturated($0) } }
        }
        var batch = tally.batch(
            running: states.count,
            received: received,
            expected: expected,
            recovered: states.reduce(0) { $0.addingSaturated($1.resumedAt) }
        )
        batch.isPaused = isPaused
        batch.hint = isPaused ? "p resumes, q stops" : nil
        if isPaused { meter.skip(to: now) }
        // Bytes of earlier runs do not count as received now.
        meter.record(total: batch.received - batch.recovered, now: now)
        batch.speed = meter.speed
        batch.timeLeft = meter.timeLeft(expected: batch.expected.map { $0 - batch.recovered })
        return batch
    }

    /// A closed reader, or a full disk, stops the run.
    func emit(_ event: some Event) {
        do {
            try events?.write(event)
        } catch {
            let failure = Failure(error)
            if failure != .closedOutput { reporter.complain(failure.sentence) }
            stop(failure.outcome)
        }
    }

    // MARK: - The end

    func finishIfDone() {
        guard running.isEmpty, stopOutcome != nil || items.isOver else { return }
        clock.end()
        switch stopOutcome {
        case .closedOutput: break
        case .signal: reporter.conclude(stopped: "Interrupted.", tally.summary, advice)
        case nil:
            if items.count > 1 { reporter.conclude(tally.summary) }
            for line in continuation.advice(afterFailures: tally.kept) { reporter.conclude(line) }
        default:
            let reason = settings.failsEarly ? "Stopped at the first failure." : "Interrupted."
            reporter.conclude(stopped: reason, tally.summary, advice)
        }
        finish(stopOutcome ?? tally.outcome)
    }

    private var advice: [String] { continuation.lines(after: tally.kept, items: items.count) }

    private func finish(_ outcome: Outcome) {
        var outcome = outcome
        do {
            try settings.access.saveCookies()
        } catch {
            let failure = Failure(error)
            reporter.complain(failure.sentence)
            outcome = outcome.combined(with: failure.outcome)
        }
        do {
            try events?.write(RunFinished(outcome, tally, seconds: clock.elapsed))
        } catch {
            let failure = Failure(error)
            if failure != .closedOutput { reporter.complain(failure.sentence) }
            outcome = outcome.combined(with: failure.outcome)
        }
        reporter.clear()
        terminal.keyboard?.close()
        ProcessEnd(outcome, after: stopRequest.signal).happen()
    }
}

/// The parts of the terminal that a run changes and has to restore: the keys and the cursor. Callable from
/// any thread.
struct RunTerminal: Sendable {
    /// `nil` if keys are ignored.
    let keyboard: Keyboard?
    private let restoresCursor: Bool

    init(_ outlets: RunOutlets) {
        keyboard = outlets.keyboard
        restoresCursor = outlets.reporter.draws
    }

    /// Restores them without waiting for a frame.
    func giveBackAtOnce() {
        keyboard?.close()
        if restoresCursor { Reporter.restoreCursor(of: .standardError) }
    }
}
