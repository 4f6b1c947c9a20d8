import Dispatch
import Foundation
import FoundationNetworking
import Glibc
import OperationNetworking

/// Fetches the items, a limited number at a time, and ends the process.
///
/// An item is looked at, and its operation made, when its turn comes: a list of 100,000 costs neither
/// descriptors nor operations before.
final class Run: @unchecked Sendable {
    // @unchecked: after init everything happens on `queue`, but for `stopAtOnce`, which uses constants and
    // the keyboard, which has a lock of its own.

    /// Between two frames, and two looks for keys: ten a second.
    private static let frameInterval = 0.1
    /// Between two `progress` events of an item.
    private static let eventInterval = 1.0
    /// Between two plain lines about the batch.
    private static let summaryInterval = 60.0
    /// Operations that were cancelled are waited for so long.
    private static let patience = 1.8

    let queue = DispatchQueue(label: "opget.run")
    let operations = OperationQueue()
    let items: [Item]
    let settings: Settings
    private let restoresCursor: Bool
    private let keyboard: Keyboard?
    private let continuation: Continuation
    private let start: Double

    var reporter: Reporter
    private var events: EventWriter?
    var running: [Int: Transfer] = [:]
    /// Items whose files are there already, and are being read.
    var checking: Set<Int> = []
    /// Those of them that do not have their checksums, while their last bytes are compared.
    var wrong: [Int: Failure] = [:]
    var nextIndex = 0
    var tally: Tally
    private var meter: ThroughputMeter
    private var timer: (any DispatchSourceTimer)?
    private var lastSummary: Double
    private var lastEvents: Double
    private var lastResume: Double
    private(set) var stopOutcome: Outcome?
    /// By the key.
    private(set) var isPaused = false
    /// By Ctrl-Z.
    private var isSuspended = false

    init(_ items: [Item], settings: Settings, outlets: RunOutlets) {
        self.items = items
        self.settings = settings
        reporter = outlets.reporter
        events = outlets.events
        keyboard = outlets.keyboard
        continuation = outlets.continuation
        restoresCursor = reporter.draws
        tally = Tally(count: items.count)
        start = Self.now
        meter = ThroughputMeter(now: start)
        lastSummary = start
        lastEvents = start
        lastResume = -.infinity
        operations.maxConcurrentOperationCount = settings.concurrency
    }

    static var now: Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }

    // MARK: - Commands, from any thread

    /// Begins; the process ends when everything has.
    func begin() {
        queue.async { [self] in
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.schedule(deadline: .now() + Self.frameInterval, repeating: Self.frameInterval)
            timer.setEventHandler { [self] in tick() }
            timer.resume()
            self.timer = timer
            keyboard?.open()
            tell(RunStarted(items: items.count, jobs: settings.concurrency))
            fill()
        }
    }

    /// Cancels what runs, and keeps what came; the process ends with `outcome` when that is safe on the disk.
    func stop(_ outcome: Outcome) {
        queue.async { [self] in halt(outcome) }
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience) { [self] in
            stopAtOnce(outcome)
        }
    }

    /// The same, on the run's own queue.
    func halt(_ outcome: Outcome) {
        guard stopOutcome == nil else { return }
        stopOutcome = outcome
        for transfer in running.values { transfer.stream?.letGo() }
        operations.cancelAllOperations()
        // One that its queue has not started finishes when it is.
        operations.isSuspended = false
        finishIfDone()
    }

    /// Ends the process. What came is in files, and what is known of it is never half written.
    func stopAtOnce(_ outcome: Outcome) {
        keyboard?.close()
        if restoresCursor { Reporter.restoreCursor(of: .standardError) }
        _exit(outcome.code)
    }

    /// Gives the terminal back before the process is stopped.
    func suspend() {
        let group = DispatchGroup()
        queue.async(group: group) { [self] in
            isSuspended = true
            reporter.clear()
            keyboard?.close()
        }
        // A reader that does not read, or Ctrl-S, may hold up the queue; the process has to stop all the
        // same.
        if group.wait(timeout: .now() + Self.patience) == .timedOut { keyboard?.close() }
    }

    /// The process was stopped, and goes on. To be called after ``suspend()``, and for every SIGCONT.
    func resume() {
        queue.async { [self] in
            let now = Self.now
            if isSuspended {
                isSuspended = false
                lastResume = now
            } else if now - lastResume > 1 {
                // Stopped by SIGSTOP: the process that had the terminal meanwhile has written below what was
                // drawn. A SIGCONT that comes at once is the one that `suspend` was followed by.
                reporter.forget()
            }
            meter.skip(to: now)
            for index in running.keys { running[index]?.skip(to: now) }
            tick()
        }
    }

    /// The terminal has another size: so it is noticed before the next frame.
    func redraw() {
        queue.async { [self] in draw(Self.now) }
    }

    // MARK: - Keys

    private func press(_ key: KeyCommand) {
        switch key {
        case .pause: isPaused ? goOn() : pause()
        case .quit: stopOutcome == nil ? stop(.signal(SIGINT)) : stopAtOnce(.signal(SIGINT))
        }
    }

    /// First nothing new may start: what pauses makes room.
    private func pause() {
        guard stopOutcome == nil else { return }
        isPaused = true
        operations.isSuspended = true
        let now = Self.now
        for index in running.keys { running[index]?.pause(now: now) }
        reporter.tellUnlessDrawn("Paused. Press p to go on.")
        tell(RunPaused(running: running.count))
    }

    private func goOn() {
        let now = Self.now
        isPaused = false
        for index in running.keys { running[index]?.goOn(now: now) }
        operations.isSuspended = false
        reporter.tellUnlessDrawn("Going on.")
        tell(RunResumed(running: running.count))
        fill()
    }

    // MARK: - Progress

    private func tick() {
        let now = Self.now
        if !isSuspended, let keyboard {
            // It may have come to the foreground just now.
            keyboard.open()
            for key in keyboard.pressed() { press(key) }
        }
        if let limit = settings.maximumTime {
            for index in running.keys { running[index]?.end(after: limit, now: now) }
        }
        let batch = draw(now)
        if now - lastSummary >= Self.summaryInterval {
            lastSummary = now
            if !isPaused { reporter.summarize(batch) }
        }
        if now - lastEvents >= Self.eventInterval {
            lastEvents = now
            for index in running.keys.sorted() {
                if let news = running[index]?.news(index) { tell(news) }
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
        if !isSuspended { reporter.draw(states, batch, now: now) }
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
        // What earlier runs had left did not come now.
        meter.record(total: batch.received - batch.recovered, now: now)
        batch.speed = meter.speed
        batch.timeLeft = meter.timeLeft(expected: batch.expected.map { $0 - batch.recovered })
        return batch
    }

    /// A reader that is gone, or a full disk, stops the run.
    func tell(_ event: some Event) {
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
        guard running.isEmpty, stopOutcome != nil || nextIndex == items.count && checking.isEmpty else {
            return
        }
        timer?.cancel()
        switch stopOutcome {
        case .closedOutput: break
        case .signal: reporter.conclude(stopped: "Interrupted.", tally.summary, continuation.lines)
        case nil:
            if items.count > 1 { reporter.conclude(tally.summary) }
            if tally.resumable > 0 {
                reporter.conclude(continuation.advice(afterFailuresOf: tally.resumable))
            }
        default:
            let reason = settings.failsEarly ? "Stopped at the first failure." : "Interrupted."
            reporter.conclude(stopped: reason, tally.summary, continuation.lines)
        }
        finish(stopOutcome ?? tally.outcome)
    }

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
            try events?.write(RunFinished(outcome, tally, seconds: Self.now - start))
        } catch {
            let failure = Failure(error)
            if failure != .closedOutput { reporter.complain(failure.sentence) }
            outcome = outcome.combined(with: failure.outcome)
        }
        reporter.clear()
        keyboard?.close()
        // Not exit(3): the library's threads still run, and must not see what it takes apart.
        _exit(outcome.code)
    }
}
