import Dispatch
public import Foundation
internal import OperationNetworkingSystem

/// Many downloads that belong together: started in order, limited per host, and resumable by a later process.
///
/// ```swift
/// let batch = try manager.downloads(items, journal: folder.appendingPathComponent("batch.journal"))
/// for result in await batch.results() { print(result) }
/// ```
///
/// Created by ``OperationManager/downloads(_:options:journal:event:)``, or by
/// ``OperationManager/downloads(resuming:retriesFailed:headers:event:)`` from the journal of an incomplete batch. It
/// begins at once, in the manager's queue, and creates operations as needed. Everything may be called from any
/// thread.
///
/// If the disk is full, the batch pauses instead of failing one member after the other: see ``Event/outOfSpace(_:)``.
/// A member that is longer than any file can be in that place fails alone, with
/// ``DownloadError/tooLarge(_:length:)``. A member whose announced length does not fit pauses the batch once.
/// After ``resume()``, it begins last and alone; if it still does not fit, it fails with
/// ``DownloadError/notEnoughSpace(_:needed:available:)``.
///
/// Running operations retain the batch. When a paused batch is released, its operations are cancelled; the received
/// bytes and the journal are kept, and another batch can resume.
public final class DownloadBatch: Sendable {
    /// An event of a batch.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Event: Sendable {
        /// The member with this index has ended. For a member that an earlier process completed, this is sent at the
        /// beginning.
        case ended(Int, Result<DownloadedFile, any Error>)
        /// There is no disk space for a file or for the journal. The batch has paused; received bytes are kept.
        /// ``DownloadBatch/resume()`` tries again; the member that found no space begins last, and fails if its
        /// announced length still does not fit. Retain the batch: releasing a paused batch ends it.
        case outOfSpace(any Error)
    }

    /// Called for each event, one at a time.
    public typealias EventHandler = @isolated(any) @Sendable (_ event: Event) -> Void

    /// What creates and runs the operations.
    struct Source: Sendable {
        let queue: OperationQueue
        let completionQueue: DispatchQueue?
        let make: @Sendable (DownloadItem) throws -> DownloadOperation
    }

    private struct Running {
        let operation: DownloadOperation
        let limit: BandwidthLimit
    }

    private struct State {
        var run: DownloadRun
        var results: [Result<DownloadedFile, any Error>?]
        var running: [Int: Running] = [:]
        var bytesPerSecondPerDownload: Int64?
        /// The phase that was last applied to the operations.
        var settled = DownloadRun.Phase.running
        /// The batch itself while its operations run. They refer to it weakly, because a paused one stays in its
        /// queue and would retain it forever.
        var keeper: DownloadBatch?

        mutating func keep(_ batch: DownloadBatch) {
            keeper = run.phase == .paused || running.isEmpty ? nil : batch
        }
    }

    /// The items, in order.
    public let items: [DownloadItem]
    /// The options that the batch was created with.
    public let options: Options
    private let source: Source
    private let journal: DownloadJournal?
    private let limit: BandwidthLimit
    private let tracker: BatchTracker
    private let onEvent: EventHandler?
    /// Creates and controls operations one after the other, and so in order.
    private let work = DispatchQueue(label: "OperationNetworking.DownloadBatch")
    private let state: Locked<State>

    /// `known` contains the ends of members in an earlier process.
    init(
        _ items: [DownloadItem],
        options: Options,
        source: Source,
        journal: DownloadJournal?,
        known: [Int: Result<DownloadedFile, any Error>] = [:],
        onEvent: EventHandler?
    ) {
        self.items = items
        self.options = options
        self.source = source
        self.journal = journal
        self.onEvent = onEvent
        limit = BandwidthLimit(bytesPerSecond: options.bytesPerSecond)
        var estimate = BatchEstimate(count: items.count)
        var results = [Result<DownloadedFile, any Error>?](repeating: nil, count: items.count)
        for (index, result) in known {
            results[index] = result
            let length = (try? result.get().length) ?? 0
            estimate.begin(index, at: length, length: length)
        }
        tracker = BatchTracker(
            estimate,
            completionQueue: source.completionQueue,
            hasClosures: onEvent != nil
        )
        let run = DownloadRun(
            items.map { Origin($0.url) },
            done: Set(known.keys),
            limit: options.maximumActiveDownloadsPerHost,
            total: options.maximumActiveDownloads
        )
        state = Locked(
            State(run: run, results: results, bytesPerSecondPerDownload: options.bytesPerSecondPerDownload)
        )
        tracker.gauge.set(
            ReportedProgress.Controls(
                cancel: { [weak self] in self?.cancel() },
                pause: { [weak self] in self?.pause() },
                resume: { [weak self] in self?.resume() }
            )
        )
    }

    deinit {
        // The batch is paused, or complete.
        let left = state.withLock { $0.running.values.map(\.operation) }
        if !left.isEmpty { ConnectionOperation.cancelTogether(left) }
        // A completed batch has already closed it. A file that gets its last byte just now can no longer be recorded:
        // it stays a partial file.
        journal?.close(removing: false) {}
    }

    // MARK: - Commands

    /// Stops starting members, and pauses the running ones. Received bytes are kept.
    public func pause() {
        state.withLock { $0.run.pause() }
        work.async { self.proceed() }
    }

    /// Resumes after ``pause()``, or after a lack of disk space.
    public func resume() {
        state.withLock { $0.run.resume() }
        work.async { self.proceed() }
    }

    /// Cancels all members that have not ended, with `URLError.cancelled`. Received bytes and the journal are kept,
    /// so the batch can be resumed.
    public func cancel() {
        state.withLock { stop(&$0) }
        work.async { self.proceed() }
    }

    /// Whether the batch is waiting for ``resume()``.
    public var isPaused: Bool { state.withLock { $0.run.phase == .paused } }

    /// The rate limit for all members together in bytes per second; `nil` for no limit. Can be changed at any time.
    public var bytesPerSecond: Int64? {
        get { limit.bytesPerSecond }
        set { limit.bytesPerSecond = newValue }
    }

    /// The rate limit for each member in bytes per second; `nil` for no limit. Can be changed at any time.
    public var bytesPerSecondPerDownload: Int64? {
        get { state.withLock { $0.bytesPerSecondPerDownload } }
        set {
            state.withLock { state in
                state.bytesPerSecondPerDownload = newValue
                for running in state.running.values { running.limit.bytesPerSecond = newValue }
            }
        }
    }

    // MARK: - Results

    /// Returns the result of each member, in the order of ``items``, when all have ended and all events have been
    /// delivered. Without an `event` closure, it needs no completion queue.
    ///
    /// Cancelling the task cancels the batch, and returns at once: the result of members that have not ended is
    /// `URLError.cancelled`.
    public func results() async -> [Result<DownloadedFile, any Error>] {
        await Wait.until(tracker.whenKnown) {
            self.cancel()
            return true
        }
        return state.withLock { state in
            items.indices.map { index in
                state.results[index] ?? state.running[index].flatMap { Self.end(of: $0.operation)?.result }
                    ?? .failure(URLError.cancelled(url: items[index].url))
            }
        }
    }

    /// The journal. It is removed when every member has succeeded; otherwise it is kept, so that the batch can be
    /// resumed.
    public var journalFile: URL? { journal?.url }

    // MARK: - Progress

    /// The progress in bytes, estimated while lengths are unknown. It never decreases, and finishes when all members
    /// have ended. `cancel()`, `pause()` and `resume()` control the batch, which the progress does not retain. See
    /// ``OperationBatch/progress``.
    public var progress: Progress { tracker.gauge.progress }

    /// The current progress, then a value whenever bytes are received, at most 20 times a second, and once a second
    /// while the throughput decreases. Ends with the batch, after the last value. A slow reader receives only the
    /// newest value. Needs no completion queue.
    public var updates: AsyncStream<BatchProgress> { tracker.gauge.updates }

    /// The completed fraction, from 0 to 1; never decreases.
    public var fractionCompleted: Double { tracker.gauge.fraction }

    /// The reliability of ``fractionCompleted``.
    public var confidence: BatchConfidence { tracker.gauge.confidence }

    /// The number of received bytes, including those of earlier operations.
    public var completedBytes: Int64 { tracker.gauge.moved }

    /// The bytes of all members, estimated where lengths are unknown; `nil` if nothing is known.
    public var totalBytes: Int64? { tracker.gauge.totalLength }

    /// The throughput in bytes per second, mostly of the last few seconds; `nil` at first.
    public var throughput: Double? { tracker.gauge.throughput }

    /// The estimated seconds until all bytes have been received; `nil` while unknown.
    public var estimatedTimeRemaining: TimeInterval? { tracker.gauge.timeLeft }

    // MARK: - Running

    /// Begins. Called once.
    func begin() {
        state.withLock { state in
            for (index, result) in state.results.enumerated() {
                if let result { count(index, result, &state) }
            }
        }
        tracker.begin { [weak self] _ in self?.close() }
        work.async { self.proceed() }
    }

    /// Applies the phase to the operations, and starts members. On `work`. Running operations are visited only if the
    /// phase has changed, because each end calls this.
    private func proceed() {
        let (phase, running) = state.withLock { state in
            defer { state.settled = state.run.phase }
            state.keep(self)
            let isSettled = state.run.phase == state.settled
            return (state.run.phase, isSettled ? [] : state.running.values.map(\.operation))
        }
        switch phase {
        case .running:
            ConnectionOperation.resumeTogether(running)
            while let index = state.withLock({ $0.run.next() }) { start(index) }
        case .paused:
            ConnectionOperation.pauseTogether(running)
        case .stopped:
            ConnectionOperation.cancelTogether(running)
        }
    }

    private func start(_ index: Int) {
        do {
            if options.existingFiles == .keep, try keep(index) { return }
            let (operation, ownLimit) = try makeOperation(index)
            let phase = state.withLock { state in
                // The next call of `proceed()` finds it there.
                if state.run.phase == .paused {
                    state.run.putBack(index)
                } else {
                    ownLimit.bytesPerSecond = state.bytesPerSecondPerDownload
                    state.running[index] = Running(operation: operation, limit: ownLimit)
                    state.keep(self)
                }
                return state.run.phase
            }
            guard phase != .paused else { return }
            operation.whenKnown { [weak self, weak operation] in
                guard let self, let operation, let (result, end) = Self.end(of: operation) else { return }
                memberDidEnd(index, result, end)
            }
            source.queue.addOperation(operation)
        } catch {
            memberDidEnd(index, .failure(error), .failed)
        }
    }

    /// Ends a member whose file exists.
    ///
    /// - Returns: `false` if there is no such file.
    /// - Throws: ``DownloadError`` for a destination that is not a file, or a `CocoaError`.
    private func keep(_ index: Int) throws -> Bool {
        let item = items[index]
        guard try item.isAtDestination() else { return false }
        let end: @Sendable () -> Void = { [self] in
            let result = Result { try item.existingFile() }
            let length = (try? result.get().length) ?? 0
            tracker.gauge.record { $0.begin(index, at: length, length: length) }
            if case .success = result {
                memberDidEnd(index, result, .finished)
            } else {
                memberDidEnd(index, result, .failed)
            }
        }
        // Reading a large file takes time.
        if item.expectedDigests.isEmpty { end() } else { DispatchQueue.global().async(execute: end) }
        return true
    }

    private func makeOperation(_ index: Int) throws -> (DownloadOperation, BandwidthLimit) {
        let item = items[index]
        let operation = try source.make(item)
        let ownLimit = BandwidthLimit(bytesPerSecond: nil)
        operation.expectedDigests = item.expectedDigests
        operation.replacesFile = options.existingFiles == .replace
        operation.unprovenBytes = options.unprovenBytes
        operation.retryPolicy = options.retryPolicy
        operation.downloadLimits += [limit, ownLimit]
        operation.changeTransferSettings { [options] in
            $0.raisedConnectionLimit = options.maximumActiveDownloadsPerHost
        }
        if let journal {
            let url = item.url.absoluteString
            operation.willFinish = { download, part, verification in
                guard let stamp = try FileStamp(path: part.path) else { return }
                let isRecorded = FileRecord.stamp(in: part) == stamp
                var finished = JournalEntry.Finished(download, stamp: stamp, isRecorded: isRecorded)
                finished.verification = verification.note(besides: url)
                try journal.append(JournalEntry(member: index, finished: finished))
            }
        }
        operation.join(BatchMembership(index, of: tracker, countsEnds: false))
        return (operation, ownLimit)
    }

    // MARK: - Ends

    /// Returns the end of an operation; `nil` if it has not ended.
    private static func end(of operation: DownloadOperation) -> (
        result: Result<DownloadedFile, any Error>, end: DownloadRun.End
    )? {
        guard operation.state.withLock({ $0.batchEvent(endsWhenKnown: true) }) == .ended else { return nil }
        if let error = operation.errorForWaiting {
            return (.failure(error), operation.isCancelled ? .cancelled : DownloadRun.End(error))
        } else if let download = operation.downloadedFile {
            return (.success(download), .finished)
        } else {
            return (.failure(URLError(.cannotCreateFile)), .failed)
        }
    }

    private func memberDidEnd(
        _ index: Int,
        _ result: Result<DownloadedFile, any Error>,
        _ end: DownloadRun.End
    ) {
        // Reported under the lock, so that nothing follows the end of all.
        state.withLock { state in
            state.running[index] = nil
            switch state.run.end(index, end) {
            case .putBack(let isNews):
                if isNews, case .failure(let error) = result { report(.outOfSpace(error)) }
            case .ended(let hasFailed):
                if hasFailed, case .failure(let error) = result {
                    journal?.note(JournalEntry(member: index, failure: "\(error)"))
                }
                let isFirstFailure = hasFailed && tracker.fail(index)
                count(index, result, &state)
                if isFirstFailure, options.policy == .stopAtFirstFailure { stop(&state) }
            }
            state.keep(self)
        }
        work.async { self.proceed() }
    }

    /// Stops starting members: the waiting ones have ended.
    private func stop(_ state: inout State) {
        for index in state.run.stop() {
            count(index, .failure(URLError.cancelled(url: items[index].url)), &state)
        }
    }

    /// Records the end of a member.
    private func count(_ index: Int, _ result: Result<DownloadedFile, any Error>, _ state: inout State) {
        state.results[index] = result
        report(.ended(index, result))
        tracker.record(.ended, of: index)
    }

    private func report(_ event: Event) {
        guard let onEvent else { return }
        tracker.line.append { Callback.here(onEvent, event) }
    }

    /// Closes the journal when all members have ended, and then completes. The batch is retained until the journal is
    /// closed. Called with the lock held.
    private func close() {
        work.async {
            guard let journal = self.journal else { return self.tracker.conclude() }
            let isToBeRemoved = self.state.withLock { state in
                state.results.allSatisfy { if case .success = $0 { true } else { false } }
            }
            journal.close(removing: isToBeRemoved) { self.tracker.conclude() }
        }
    }
}

extension DownloadRun.End {
    /// Classifies the error of a member that was not cancelled.
    fileprivate init(_ error: any Error) {
        if case .notEnoughSpace(_, let needed, let available) = error as? DownloadError {
            // With almost no space left, the disk is full, whatever the length.
            self = available < min(AllocationPlan.step, needed / 4) ? .outOfSpace : .doesNotFit
        } else if case .noRoomForBoth = error as? DownloadError {
            self = .doesNotFit
        } else {
            self = (error as? CocoaError)?.code == .fileWriteOutOfSpace ? .outOfSpace : .failed
        }
    }
}

extension DownloadItem {
    /// Whether the file exists. Removes what a killed process left next to it.
    ///
    /// - Throws: ``DownloadError`` for a destination that is not a file, or a `CocoaError`.
    fileprivate func isAtDestination() throws -> Bool {
        try FileError.translating(destination) {
            let place = try DownloadPlace(destination, watch: nil)
            do {
                try place.check(replacing: false)
                return false
            } catch DownloadError.destinationExists {
                guard place.folder.mayReplace(place.name) else {
                    throw DownloadError.destinationOfOtherUser(destination)
                }
                return true
            }
        }
    }

    /// Returns the existing file, with its digests if any are expected.
    ///
    /// - Throws: ``DownloadError/digestMismatch(_:expected:actual:)``, or a `CocoaError`.
    fileprivate func existingFile() throws -> DownloadedFile {
        for expected in expectedDigests {
            let actual = try FileDigest.of(file: destination, algorithm: expected.algorithm)
            guard actual == expected else {
                throw DownloadError.digestMismatch(destination, expected: expected, actual: actual)
            }
        }
        guard let length = try FileStamp(path: destination.path)?.length else {
            throw CocoaError(.fileReadNoSuchFile, userInfo: [NSFilePathErrorKey: destination.path])
        }
        return DownloadedFile(
            file: destination,
            length: length,
            proof: .existing,
            digests: expectedDigests,
            bytesRecovered: length,
            restarts: []
        )
    }
}

extension DownloadBatch {
    /// Checks that destinations are unique. Whether different paths lead to the same file is not known before it is
    /// written: then it is ``DownloadError/inUse(_:)``, or ``DownloadError/destinationExists(_:)``.
    /// - Throws: ``DownloadBatchError/duplicateDestination(_:)``.
    static func check(_ items: [DownloadItem], journal: URL?) throws(DownloadBatchError) {
        // By bytes, as in file systems: strings compare canonically equivalent characters as equal.
        var taken = Set(journal.map { [Array($0.standardizedFileURL.path.utf8)] } ?? [])
        taken.reserveCapacity(items.count + 1)
        for item in items where !taken.insert(Array(item.destination.standardizedFileURL.path.utf8)).inserted
        {
            throw .duplicateDestination(item.destination)
        }
    }
}
