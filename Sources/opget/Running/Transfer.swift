import Foundation
import FoundationNetworking
import OperationNetworking

/// A transfer in progress: its operation, the destination of its body, and what it has received.
struct Transfer {
    /// What the operation has reported to opget, and what opget has reported.
    private struct Reports {
        /// The bytes in the last `progress` event.
        var reportedBytes: Int64 = 0
        /// Whether the operation has reported bytes that were discarded since. It reports nothing until it
        /// has received as many again.
        var areAhead = false
        /// Whether a response has begun. Bytes that are kept or discarded after that were received by this
        /// run.
        var haveBegun = false
    }

    let item: Item
    let operation: HTTPRequestOperation
    /// `nil` unless the body is written to an open descriptor.
    let stream: DescriptorStream?
    private(set) var received: Int64 = 0
    private(set) var expected: Int64?
    /// The number of bytes that an earlier run had received.
    private(set) var resumedAt: Int64 = 0
    /// Whether it was cancelled because it took too long.
    private(set) var isOverdue = false
    /// Whether the operation is running, according to its observer. An operation that holds its connection
    /// open is.
    private var runs = false
    private var clock: TransferClock
    /// When the next attempt begins.
    private var waitsUntil = -Double.infinity
    /// The failure of the last attempt, if another one follows.
    private var setback: Failure?
    private var hasFetched = false
    /// Whether it resumes after a pause. The user knows why it is resumed then.
    private(set) var resumesAfterPause = false
    private var reports = Reports()
    /// The number of restarts caused only by another ETag.
    private var otherTags = 0

    init(
        _ item: Item,
        _ operation: HTTPRequestOperation,
        stream: DescriptorStream? = nil,
        now: Double
    ) {
        self.item = item
        self.operation = operation
        self.stream = stream
        clock = TransferClock(now: now)
    }

    /// `nil` if the body is written to a descriptor, a device or a FIFO.
    var download: DownloadOperation? { operation as? DownloadOperation }

    /// The name of the transfer in messages.
    var place: String { if case .file(let path) = item.destination { path.text } else { item.printableURL } }

    /// The path of the partial file; `nil` if none exists.
    var partialPath: String? { partial?.path }

    private var partial: (path: String, size: Int64)? {
        guard case .file(let path) = item.destination, let file = download?.partialFile else { return nil }
        let name = file.lastPathComponent
        let partial = path.text.contains("/") ? path.parent.appending(name) : FilePath(name)
        guard case .file(let size)? = try? FileStatus(of: partial), size > 0 else { return nil }
        return (partial.text, size)
    }

    /// The bytes kept by a transfer that did not save its file, and how many of them an earlier run had
    /// received. If the server sent none, an earlier run received all of them.
    var kept: (bytes: Int64, resumedAt: Int64) {
        guard download != nil else { return (received, resumedAt) }
        let bytes = partial?.size ?? 0
        return (bytes, hasFetched || resumedAt > 0 ? min(resumedAt, bytes) : bytes)
    }

    /// What the next run can do with the partial file; `nil` if none exists, or if the user requested a
    /// range, which is never resumed.
    var nextUse: KeptParts.NextUse? {
        guard let download else { return nil }
        // It may already have been removed.
        if hasFetched, download.obstacle(toContinuing: received) == .checkpointUnproven {
            return .startsOver(.checkpointUnproven)
        }
        guard let partial else { return nil }
        return switch download.obstacle(toContinuing: partial.size) {
        case nil: .resumes
        case .ownRange: nil
        case let reason?: .startsOver(reason)
        }
    }

    /// The same after a failure, which may show that the address is no longer valid.
    func nextUse(after failure: Failure) -> KeptParts.NextUse? {
        guard nextUse == .resumes, case .file(let path) = item.destination else { return nextUse }
        switch failure.outcome {
        case .server, .authorization:
            guard let status = operation.response?.statusCode, [401, 403, 404, 410].contains(status) else {
                return nextUse
            }
            return download?.resumesWithOtherLink == true ? .needsLink(path.text) : .needsSameLink(path.text)
        case .checksum: return .hasOtherChecksum(path.text)
        case .diskFull:
            // The failure itself describes this.
            if case DownloadError.noRoomForBoth? = operation.error { return nil }
            return nextUse
        default: return nextUse
        }
    }

    var isPaused: Bool { clock.isPaused }

    // MARK: - Pausing

    mutating func pause(now: Double) {
        guard clock.pause(now: now) else { return }
        waitsUntil = -.infinity
        if let stream, !isContinuable { stream.hold() } else { operation.pause() }
    }

    /// Whether the rest can be requested later. Bytes written to standard output cannot be taken back, so
    /// without a strong ETag the transfer has to wait with its connection open.
    private var isContinuable: Bool {
        operation.response?.value(forHTTPHeaderField: "ETag")?.hasPrefix("\"") ?? false
    }

    /// Pauses a transfer that begins while the run is paused.
    mutating func pauseClock(now: Double) {
        _ = clock.pause(now: now, hasRun: false)
    }

    mutating func resumeAfterPause(now: Double) {
        guard clock.resume(now: now) else { return }
        resumesAfterPause = clock.hasRun
        stream?.release()
        operation.resume()
    }

    /// Cancels the transfer if it has taken longer than `limit` seconds without pauses.
    mutating func end(after limit: Double, now: Double) {
        guard !isOverdue, !isPaused, seconds(now: now) > limit else { return }
        isOverdue = true
        operation.cancel()
    }

    // MARK: - Events

    /// Records whether the operation is running.
    mutating func show(runs: Bool) {
        self.runs = runs
    }

    /// Records the head of a response with bytes of the file, or of the final response.
    mutating func respond() {
        reports.haveBegun = true
    }

    /// Records received bytes.
    mutating func receive(_ bytes: Int64, of expected: Int64?) {
        reports.areAhead = false
        waitsUntil = -.infinity
        count(bytes, of: expected)
    }

    private mutating func count(_ bytes: Int64, of expected: Int64?) {
        if bytes > received { (hasFetched, resumesAfterPause) = (true, false) }
        (received, self.expected) = (bytes, expected)
    }

    /// Records that an attempt begins after `offset` bytes, which are kept.
    mutating func resume(at offset: Int64, now: Double) {
        waitsUntil = -.infinity
        guard !hasFetched else {
            // After a disk error, fewer bytes may have been written than received.
            if offset < received { fallBack(to: offset, now: now) }
            return
        }
        // An earlier run has received them.
        (received, resumedAt) = (offset, offset)
        clock.begin(at: offset, now: now)
    }

    /// Records that the received bytes were discarded.
    mutating func startOver(now: Double) {
        resumedAt = 0
        // Nothing was requested yet, so the discarded bytes were received by an earlier run. The partial file
        // may now begin with a copy of the user's file.
        guard reports.haveBegun || received > 0 else { return }
        // This run has received everything that is kept from now on.
        hasFetched = true
        fallBack(to: 0, now: now)
    }

    /// Records that only `offset` of the reported bytes are left. The caller sends the event.
    private mutating func fallBack(to offset: Int64, now: Double) {
        received = offset
        (reports.reportedBytes, reports.areAhead) = (offset, true)
        clock.begin(at: offset, now: now)
    }

    /// Records that the server uses another ETag for what seems to be the same file.
    /// - Returns: whether to print a message. True once, the second time.
    mutating func noteOtherTag() -> Bool {
        otherTags += 1
        return otherTags == 2
    }

    /// A warning about a response that is a page although the file name is that of an archive or image.
    func warning(of response: HTTPURLResponse) -> String? {
        guard case .file(let path) = item.destination, received == 0, resumedAt == 0,
            (200..<300).contains(response.statusCode),
            let type = response.value(forHTTPHeaderField: "Content-Type")?.split(separator: ";").first,
            ["text/html", "application/xhtml+xml"].contains(
                type.trimmingCharacters(in: .whitespaces).lowercased()
            ),
            FileName.namesArchiveOrImage(path.name)
        else { return nil }
        return
            "the server sends text/html, which does not match the file name: is this the sign-in page of a captive portal?"
    }

    /// Records that the next attempt begins after a delay.
    mutating func wait(_ retry: Retry, now: Double) {
        waitsUntil = now + retry.delay
        if case .error(let error) = retry.cause { setback = Failure(error) }
    }

    /// The failure to report for `error`. If standard output or a terminal has received bytes of a failed
    /// attempt, and the server does not prove that the rest belongs to them, the failed attempt is reported.
    func failure(_ error: any Error) -> Failure {
        guard download == nil, let setback else { return Failure(error) }
        switch error {
        case ResumeError.representationChanged, ResumeError.mustStartOver: break
        default: return Failure(error)
        }
        return Failure(
            setback.outcome,
            setback.sentence + " The server does not prove that its file is still the same."
        )
    }

    // MARK: - Progress

    /// Records that the process was suspended until now.
    mutating func skip(to now: Double) {
        clock.skip(to: now)
    }

    /// Measures the speed, and returns the state to display.
    mutating func state(now: Double) -> TransferState {
        if reports.areAhead, let progress = download?.presentProgress {
            count(progress.bytes, of: progress.expected)
        }
        clock.record(total: received, now: now)
        return TransferState(
            name: item.name,
            received: received,
            expected: expected,
            resumedAt: resumedAt,
            speed: clock.meter.speed,
            timeLeft: clock.meter.timeLeft(expected: expected),
            waitingTime: waitsUntil > now ? waitsUntil - now : nil,
            isPaused: isPaused && (!runs || stream?.isHeld == true)
        )
    }

    /// Returns a progress event, if bytes were received since the last one.
    mutating func progressEvent(_ index: Int) -> ItemProgress? {
        guard received != reports.reportedBytes else { return nil }
        reports.reportedBytes = received
        let speed = isPaused ? nil : clock.meter.speed.map { Int64(saturated: $0) }
        return ItemProgress(item: index + 1, received: received, expected: expected, speed: speed)
    }

    /// The duration without pauses, in seconds.
    func seconds(now: Double) -> Double { clock.seconds(now: now) }

    /// The proof that the saved bytes are the whole file; `nil` while nothing is saved. For a descriptor or a
    /// device, only a missing proof is known.
    var proof: DownloadedFile.Proof? {
        if let download { return download.downloadedFile?.proof }
        return operation.metrics?.isEndProven == false ? .unverifiable : nil
    }

    /// The message for a completed transfer.
    func summary(length: Int64, now: Double) -> String {
        let seconds = max(seconds(now: now), 0.001)
        let fetched = ByteCount(Int64(saturated: Double(max(0, length - resumedAt)) / seconds)).text
        var parts = ["\(ByteCount(length).text) in \(TimeSpan(elapsed: seconds).text)", "\(fetched)/s"]
        if resumedAt > 0 { parts.append("resumed at \(ByteCount(resumedAt).text)") }
        switch proof {
        case .digest(let digest): parts.append("verified \(digest.algorithm.rawValue)")
        case .unverifiable: parts.append("perhaps incomplete: the server did not announce its end")
        case .overlap: parts.append("joined by comparing bytes: nothing else proves that it is one file")
        case .range(let range):
            parts.append("bytes \(range.lowerBound)-\(range.upperBound - 1) of the whole")
        case .length, .existing, nil: break
        }
        return "\(place): " + parts.joined(separator: ", ")
    }
}
