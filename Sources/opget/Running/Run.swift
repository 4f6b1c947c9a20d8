import Dispatch
import Foundation
import FoundationNetworking
import Glibc
import OperationNetworking

/// Fetches the items, so many at a time, and ends the process.
///
/// An item is looked at, and its temporary file and operation made, when its turn comes: a list of 100,000 costs
/// neither descriptors nor operations before.
final class Run: @unchecked Sendable {
    // @unchecked: after init everything happens on `queue`, but for `stopAtOnce`, which uses constants, the locked
    // `leftovers` and the keyboard, which has a lock of its own.

    /// Between two frames, and two looks for keys: ten a second.
    private static let frameInterval = 0.1
    /// Between two `progress` events of an item.
    private static let eventInterval = 1.0
    /// Between two plain lines about the batch.
    private static let summaryInterval = 60.0
    /// Operations that were cancelled are waited for so long.
    private static let patience = 1.5

    private let queue = DispatchQueue(label: "opget.run")
    private let operations = OperationQueue()
    private let items: [Item]
    private let settings: Settings
    private let leftovers = Leftovers()
    private let destinations: Set<FilePath>
    private let restoresCursor: Bool
    private let keyboard: Keyboard?
    private let continuation: Continuation
    private let start: Double

    private var reporter: Reporter
    private var events: EventWriter?
    private var running: [Int: Transfer] = [:]
    private var nextIndex = 0
    private var tally: Tally
    private var meter: ThroughputMeter
    private var timer: (any DispatchSourceTimer)?
    private var lastSummary: Double
    private var lastEvents: Double
    private var lastResume: Double
    private var stopOutcome: Outcome?
    /// By the key.
    private var isPaused = false
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
        destinations = Set(
            items.compactMap { item in
                if case .file(let path) = item.destination { path } else { nil }
            }
        )
        start = Self.now
        meter = ThroughputMeter(now: start)
        lastSummary = start
        lastEvents = start
        lastResume = -.infinity
        operations.maxConcurrentOperationCount = settings.concurrency
    }

    private static var now: Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }

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

    /// Cancels what runs; the process ends with `outcome` when the temporary files are gone.
    func stop(_ outcome: Outcome) {
        queue.async { [self] in
            guard stopOutcome == nil else { return }
            stopOutcome = outcome
            for transfer in running.values { transfer.stream?.letGo() }
            operations.cancelAllOperations()
            // One that its queue has not started finishes when it is.
            operations.isSuspended = false
            finishIfDone()
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience) { [self] in
            stopAtOnce(outcome)
        }
    }

    /// Removes the temporary files and ends the process.
    func stopAtOnce(_ outcome: Outcome) {
        leftovers.removeFiles()
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
        // A reader that does not read, or Ctrl-S, may hold up the queue; the process has to stop all the same.
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
                // Stopped by SIGSTOP: whoever had the terminal meanwhile has written below what was drawn. A SIGCONT
                // that comes at once is the one that `suspend` was followed by.
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

    // MARK: - Items

    private func fill() {
        while stopOutcome == nil, !isPaused, running.count < settings.concurrency, nextIndex < items.count {
            let index = nextIndex
            nextIndex += 1
            let item = items[index]
            do {
                try begin(item, index)
            } catch {
                fail(index, Failure(error), nil)
            }
        }
        finishIfDone()
    }

    private func begin(_ item: Item, _ index: Int) throws {
        let operation = HTTPRequestOperation(request: settings.request(for: item.url))
        var partial: PartialFile?
        var stream: StandardOutputStream?
        switch item.destination {
        case .standardOutput:
            stream = StandardOutputStream(toMemory: ())
            operation.outputStream = stream
        case .file(let path):
            switch try FileStatus(of: path) {
            case .file(let size) where !settings.replacesFiles:
                tally.findAlreadyThere()
                reporter.tell("\(path.text): already there (\(ByteCount(size).text))")
                return tell(ItemFinished(index, item, .alreadyThere, bytes: size))
            case .directory:
                throw Failure(.file, "\(path.text) is a directory.")
            case .other:
                throw Failure(.file, "\(path.text) is there, and is not a file.")
            case .device:
                operation.outputFile = URL(fileURLWithPath: path.text)
            case .nothing, .file:
                try Directory.make(path.parent)
                let file = try PartialFile(for: path, isReserved: destinations.contains, leftovers: leftovers)
                operation.outputFile = URL(fileURLWithPath: file.path.text)
                partial = file
            }
        }
        configure(operation, index)
        running[index] = Transfer(item, operation, partial: partial, stream: stream, now: Self.now)
        tell(ItemStarted(index, item, partialPath: partial?.path.text))
        operations.addOperation(operation)
    }

    private func configure(_ operation: HTTPRequestOperation, _ index: Int) {
        operation.trustAnchors = settings.trustAnchors
        operation.completionQueue = queue
        operation.setDownloadProgress { [self] _, total, expected in
            running[index]?.progress(total: total, expected: expected)
        }
        operation.setCompletion { [self] _, _ in
            end(index, nil)
        } failure: { [self] _, error in
            end(index, error)
        }
        guard events != nil else { return }
        operation.addObserver(ResponseObserver { [self] in tell(ItemResponded(index, $0)) })
    }

    private func end(_ index: Int, _ error: (any Error)?) {
        guard let transfer = running.removeValue(forKey: index) else { return }
        let now = Self.now
        do {
            if let error { throw error }
            // Without a body there is no progress, and nothing to compare.
            let received = transfer.received > 0 ? transfer.received : nil
            let saved = try transfer.partial?.commit(length: received, replacing: settings.replacesFiles)
            let length = saved ?? transfer.received
            tally.save(bytes: length)
            reporter.tell(transfer.summary(length: length, now: now))
            tell(ItemFinished(index, transfer, .saved, bytes: length, now: now))
        } catch {
            transfer.partial?.discard()
            if stopOutcome == nil {
                fail(index, Failure(error), transfer)
            } else {
                // What was cancelled because of a signal did not fail.
                tell(ItemFinished(index, transfer, .stopped, bytes: transfer.received, now: now))
            }
        }
        fill()
    }

    /// `transfer` is `nil` if it did not come to one.
    private func fail(_ index: Int, _ failure: Failure, _ transfer: Transfer?) {
        let item = items[index]
        tally.fail(failure.outcome, bytes: transfer?.received ?? 0)
        if failure != .closedOutput { reporter.complain("\(item.printableURL): \(failure.sentence)") }
        if let transfer {
            let bytes = transfer.received
            tell(ItemFinished(index, transfer, .failed, bytes: bytes, now: Self.now, failure: failure))
        } else {
            tell(ItemFinished(index, item, .failed, failure: failure))
        }
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
        let received = states.reduce(0) { $0 + $1.received }
        let expected = states.reduce(Int64?(0)) { sum, state in
            sum.flatMap { sum in state.expected.map { sum + $0 } }
        }
        var batch = tally.batch(running: states.count, received: received, expected: expected)
        batch.isPaused = isPaused
        batch.hint = isPaused ? "p resumes, q stops" : nil
        if isPaused { meter.skip(to: now) }
        meter.record(total: batch.received, now: now)
        batch.speed = meter.speed
        batch.timeLeft = meter.timeLeft(expected: batch.expected)
        return batch
    }

    /// A reader that is gone, or a full disk, stops the run.
    private func tell(_ event: some Event) {
        do {
            try events?.write(event)
        } catch {
            let failure = Failure(error)
            if failure != .closedOutput { reporter.complain(failure.sentence) }
            stop(failure.outcome)
        }
    }

    // MARK: - The end

    private func finishIfDone() {
        guard running.isEmpty, stopOutcome != nil || nextIndex == items.count else { return }
        timer?.cancel()
        switch stopOutcome {
        case .closedOutput: break
        case nil: if items.count > 1 { reporter.conclude(tally.summary) }
        default: reporter.conclude(stopped: tally.summary, continuation.lines)
        }
        finish(stopOutcome ?? tally.outcome)
    }

    private func finish(_ outcome: Outcome) {
        var outcome = outcome
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
