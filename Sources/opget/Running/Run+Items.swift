import Foundation
import FoundationNetworking
import OperationNetworking

// Fetches the items one by one. Used on the run's queue.
extension Run {
    /// Starts as many items as may run at the same time. Existing files need no network, and 100,000 of them
    /// may exist, so signals, keys and running transfers get their turn in between.
    func fill() {
        let limit = Self.now + Self.turn
        while stopOutcome == nil, !isPaused,
            let index = items.next(running: running.count, limit: settings.concurrency)
        {
            do {
                try begin(items[index], index)
            } catch {
                fail(index, Failure(error), nil)
            }
            if Self.now > limit { return fillLater() }
        }
        finishIfDone()
    }

    /// How long items are started before other work gets its turn, in seconds.
    private static let turn = 0.05

    private func fillLater() {
        guard !isFillingLater else { return }
        isFillingLater = true
        queue.async { [self] in
            isFillingLater = false
            fill()
        }
    }

    private func begin(_ item: Item, _ index: Int) throws {
        switch item.destination {
        case .descriptor(let number):
            let operation = settings.plainOperation(item)
            let stream = DescriptorStream(number)
            operation.outputStream = stream
            begin(Transfer(item, operation, stream: stream, now: Self.now), index)
        case .file(let path):
            guard !DownloadOperation.isReserved(path.name) else {
                throw DownloadError.reservedName(path.url)
            }
            switch try FileStatus(of: path) {
            case .file(let size): decide(index, path, size)
            case .nothing: try fetch(index, path, .replacing(settings.replacesFiles))
            case .directory:
                throw Failure(.file, "\(path.text) is a directory.")
            case .other:
                throw Failure(.file, "\(path.text) exists, but is not a file.")
            case .device:
                guard item.digests.isEmpty else { throw Failure(uncheckable: path) }
                let operation = settings.plainOperation(item)
                operation.outputFile = path.url
                begin(Transfer(item, operation, now: Self.now), index)
            }
        }
    }

    func fetch(_ index: Int, _ path: FilePath, _ saving: Settings.Saving) throws {
        try Directory.make(path.parent, below: settings.fence)
        let item = items[index]
        begin(Transfer(item, settings.download(item, as: path, saving), now: Self.now), index)
    }

    func begin(_ transfer: Transfer, _ index: Int) {
        let operation = transfer.operation
        operation.completionQueue = queue
        operation.setCompletion { [self] _, _ in
            end(index, nil)
        } failure: { [self] _, error in
            end(index, error)
        }
        operation.addObserver(ItemObserver { [self] in handle($0, index) })
        var transfer = transfer
        // The file may have been read while the run was paused.
        if isPaused { transfer.pauseClock(now: Self.now) }
        running[index] = transfer
        emit(ItemStarted(index, transfer.item))
        operations.addOperation(operation)
    }

    // MARK: - Events

    private func handle(_ occurrence: ItemObserver.Occurrence, _ index: Int) {
        guard let place = running[index]?.place else { return }
        switch occurrence {
        case .responded(let response):
            running[index]?.respond()
            emit(ItemResponded(index, response))
            if let warning = running[index]?.warning(of: response) { reporter.show("\(place): \(warning)") }
        case .resumed(let offset):
            let isNews = running[index]?.resumesAfterPause == false
            running[index]?.resume(at: offset, now: Self.now)
            if isNews { reporter.show("\(place): resumed at \(ByteCount(offset).text)") }
            emit(ItemResumed(item: index + 1, offset: offset))
        case .startsOver(let reason):
            running[index]?.startOver(now: Self.now)
            reporter.show("\(place): started over because \(reason)")
            if reason == .entityTagChanged, running[index]?.noteOtherTag() == true {
                reporter.show(
                    "\(place): its ETag changes with each response; -c continues by comparing the last bytes"
                )
            }
            emit(ItemRestarted(item: index + 1, reason: reason.rawValue))
        case .retries(let retry):
            running[index]?.wait(retry, now: Self.now)
            reporter.show("\(place): waiting \(TimeSpan(elapsed: retry.delay).text), \(retry.reason)")
            emit(ItemRetrying(index, retry))
        case .received(let bytes, let expected): running[index]?.receive(bytes, of: expected)
        case .runs(let runs): running[index]?.show(runs: runs)
        }
    }

    // MARK: - Completion

    private func end(_ index: Int, _ error: (any Error)?) {
        guard let transfer = running.removeValue(forKey: index) else { return }
        settings.access.saveCookiesSoon()
        let now = Self.now
        // A file that was renamed just before the cancellation is saved.
        let error = transfer.download?.downloadedFile == nil ? error : nil
        if let error {
            end(index, transfer, error, now)
        } else if transfer.download?.isUpToDate == true {
            report(upToDate: index, transfer)
        } else {
            let length = transfer.download?.downloadedFile?.length ?? transfer.received
            tally.save(bytes: length, recovered: transfer.resumedAt)
            var kept: FilePath?
            if case .file(let path) = transfer.item.destination { kept = keptPart(beside: path) }
            reporter.show(transfer.summary(length: length, now: now) + (kept.map(Self.note) ?? ""))
            var event = ItemFinished(index, transfer, .saved, bytes: length, now: now)
            event.partialPath = kept?.text
            emit(event)
        }
        fill()
    }

    private func end(_ index: Int, _ transfer: Transfer, _ error: any Error, _ now: Double) {
        if transfer.isOverdue, let limit = settings.maximumTime {
            let time = TimeSpan(elapsed: limit).text
            fail(
                index,
                Failure(.network, "It took longer than \(time), the limit of --max-time."),
                transfer
            )
        } else if stopOutcome == nil {
            fail(index, transfer.failure(error), transfer, isResumable: !DownloadError.isInTheWay(error))
        } else {
            // A transfer that was cancelled by a signal did not fail.
            tally.keep(transfer.nextUse)
            emit(ItemFinished(index, unsaved: transfer, .stopped, now: now))
        }
    }

    /// Records the failure of an item. `transfer` is `nil` if none was started; `isResumable`: whether the
    /// same command could resume its partial file.
    func fail(
        _ index: Int,
        _ failure: Failure,
        _ transfer: Transfer?,
        isResumable: Bool = true
    ) {
        let item = items[index]
        let failure = failure.ofItem
        if failure != .closedOutput { reporter.complain("\(item.printableURL): \(failure.sentence)") }
        if let transfer {
            tally.fail(
                failure.outcome,
                bytes: transfer.received,
                recovered: transfer.resumedAt
            )
            if isResumable { tally.keep(transfer.nextUse(after: failure)) }
            emit(ItemFinished(index, unsaved: transfer, .failed, now: Self.now, failure: failure))
        } else {
            tally.fail(failure.outcome, bytes: 0)
            emit(ItemFinished(index, item, .failed, failure: failure))
        }
        if settings.failsEarly, stopOutcome == nil {
            stop(tally.outcome)
            // No other item may start before this.
            halt(tally.outcome)
        }
    }
}

extension DownloadError {
    /// Whether the destination exists and the same command would not replace it.
    fileprivate static func isInTheWay(_ error: any Error) -> Bool {
        switch error {
        case DownloadError.destinationExists, DownloadError.destinationIsDirectory,
            DownloadError.destinationIsNotFile, DownloadError.destinationOfOtherUser:
            true
        default: false
        }
    }
}
