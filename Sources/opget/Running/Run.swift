import Dispatch
import Foundation
import Glibc
import OperationNetworking

/// Fetches the items, so many at a time, and ends the process.
///
/// An item is looked at, and its temporary file and operation made, when its turn comes: a list of 100,000 costs
/// neither descriptors nor operations before.
final class Run: @unchecked Sendable {
    // @unchecked: after init everything happens on `queue`, but for `stopAtOnce`, which uses constants and the
    // locked `leftovers`.

    /// Between two frames: ten a second.
    private static let frameInterval = 0.1
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

    private var reporter: Reporter
    private var running: [Int: Transfer] = [:]
    private var nextIndex = 0
    private var tally: Tally
    private var meter: TransferMeter
    private var timer: (any DispatchSourceTimer)?
    private var lastSummary: Double
    private var stopSignal: Int32?
    private var isSuspended = false

    init(_ items: [Item], settings: Settings, reporter: Reporter) {
        self.items = items
        self.settings = settings
        self.reporter = reporter
        restoresCursor = reporter.draws
        tally = Tally(count: items.count)
        destinations = Set(
            items.compactMap { item in
                if case .file(let path) = item.destination { path } else { nil }
            }
        )
        meter = TransferMeter(now: Self.now)
        lastSummary = Self.now
        operations.maxConcurrentOperationCount = settings.concurrency
    }

    private static var now: Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }

    // MARK: - Commands, from any thread

    /// Begins; the process ends when everything has.
    func start() {
        queue.async { [self] in
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.schedule(deadline: .now() + Self.frameInterval, repeating: Self.frameInterval)
            timer.setEventHandler { [self] in tick() }
            timer.resume()
            self.timer = timer
            fill()
        }
    }

    /// Cancels what runs; the process ends when the temporary files are gone.
    func stop(signal: Int32) {
        queue.async { [self] in
            guard stopSignal == nil else { return }
            stopSignal = signal
            operations.cancelAllOperations()
            finishIfDone()
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience) { [self] in
            stopAtOnce(signal: signal)
        }
    }

    /// Removes the temporary files and ends the process.
    func stopAtOnce(signal: Int32) {
        leftovers.removeFiles()
        if restoresCursor { Reporter.restoreCursor(of: .standardError) }
        _exit(Outcome.signal(signal).code)
    }

    /// Gives the terminal back while the process is stopped.
    func suspend() {
        queue.sync {
            isSuspended = true
            reporter.clear()
        }
    }

    /// Goes on drawing.
    func resume() {
        queue.async { [self] in isSuspended = false }
    }

    // MARK: - Items

    private func fill() {
        while stopSignal == nil, running.count < settings.concurrency, nextIndex < items.count {
            let index = nextIndex
            nextIndex += 1
            let item = items[index]
            do {
                try begin(item, index)
            } catch {
                fail(item, Failure(error), bytes: 0)
            }
        }
        finishIfDone()
    }

    private func begin(_ item: Item, _ index: Int) throws {
        let operation = HTTPRequestOperation(request: settings.request(for: item.url))
        var partial: PartialFile?
        switch item.destination {
        case .standardOutput:
            operation.outputStream = StandardOutputStream(toMemory: ())
        case .file(let path):
            switch try FileStatus(of: path) {
            case .file(let size) where !settings.replacesFiles:
                tally.findAlreadyThere()
                return reporter.tell("\(path.text): already there (\(ByteCount(size).text))")
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
        running[index] = Transfer(item, operation, partial, now: Self.now)
        operations.addOperation(operation)
    }

    private func end(_ index: Int, _ error: (any Error)?) {
        guard let transfer = running.removeValue(forKey: index) else { return }
        do {
            if let error { throw error }
            // Without a body there is no progress, and nothing to compare.
            let received = transfer.received > 0 ? transfer.received : nil
            let saved = try transfer.partial?.commit(length: received, replacing: settings.replacesFiles)
            let length = saved ?? transfer.received
            tally.save(bytes: length)
            reporter.tell(transfer.summary(length: length, now: Self.now))
        } catch {
            transfer.partial?.discard()
            // What was cancelled because of a signal did not fail.
            if stopSignal == nil { fail(transfer.item, Failure(error), bytes: transfer.received) }
        }
        fill()
    }

    private func fail(_ item: Item, _ failure: Failure, bytes: Int64) {
        tally.fail(failure.outcome, bytes: bytes)
        if failure != .closedOutput { reporter.complain("\(item.printableURL): \(failure.sentence)") }
    }

    // MARK: - Progress

    private func tick() {
        let now = Self.now
        var states: [TransferState] = []
        for index in running.keys.sorted() {
            if let state = running[index]?.state(now: now) { states.append(state) }
        }
        let batch = batch(states, now)
        if !isSuspended { reporter.draw(states, batch) }
        if now - lastSummary >= Self.summaryInterval {
            lastSummary = now
            reporter.summarize(batch)
        }
    }

    private func batch(_ states: [TransferState], _ now: Double) -> BatchState {
        let received = states.reduce(0) { $0 + $1.received }
        let expected = states.reduce(Int64?(0)) { sum, state in
            sum.flatMap { sum in state.expected.map { sum + $0 } }
        }
        var batch = tally.batch(running: states.count, received: received, expected: expected)
        meter.record(total: batch.received, now: now)
        batch.speed = meter.speed
        batch.timeLeft = meter.timeLeft(expected: batch.expected)
        return batch
    }

    // MARK: - The end

    private func finishIfDone() {
        guard running.isEmpty, stopSignal != nil || nextIndex == items.count else { return }
        timer?.cancel()
        if let stopSignal {
            reporter.tell("Interrupted. " + tally.summary)
            finish(.signal(stopSignal))
        } else {
            if items.count > 1 { reporter.tell(tally.summary) }
            finish(tally.outcome)
        }
    }

    private func finish(_ outcome: Outcome) {
        reporter.clear()
        // Not exit(3): the library's threads still run, and must not see what it takes apart.
        _exit(outcome.code)
    }
}
