import Foundation
import FoundationNetworking
import OperationNetworking

/// A running transfer: its operation, where its body goes, and what came so far.
struct Transfer {
    /// The reports of the operation to opget, and those of opget.
    private struct Reports {
        /// The bytes in the last `progress` event.
        var told: Int64 = 0
        /// Whether bytes that the operation reported are gone: it reports nothing until as many have come
        /// again.
        var areAhead = false
        /// Whether a response has begun: what is thrown away, or kept, after that, this run fetched.
        var haveBegun = false
    }

    let item: Item
    let operation: HTTPRequestOperation
    /// `nil` unless the body goes to an open descriptor.
    let stream: DescriptorStream?
    private(set) var received: Int64 = 0
    private(set) var expected: Int64?
    /// The number of its bytes that an earlier run had left.
    private(set) var resumedAt: Int64 = 0
    /// Whether it was given up because it took too long.
    private(set) var isOverdue = false
    /// Whether the operation runs, as its observer says; one that is held, with its connection open, does.
    private var runs = false
    private var clock: TransferClock
    /// The time of the next attempt.
    private var waitsUntil = -Double.infinity
    /// Why the last attempt was not the last one.
    private var setback: Failure?
    private var hasFetched = false
    /// Whether it goes on after a pause: so the user knows why.
    private(set) var goesOn = false
    private var reports = Reports()
    /// The number of restarts because of nothing but another entity tag.
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

    /// `nil` when the body goes to a descriptor, a device or a FIFO.
    var download: DownloadOperation? { operation as? DownloadOperation }

    /// The transfer's name in a line.
    var place: String { if case .file(let path) = item.destination { path.text } else { item.printableURL } }

    /// The partial file of a transfer that has no other file; `nil` if there is none.
    var partialPath: String? { partial?.path }

    private var partial: (path: String, size: Int64)? {
        guard case .file(let path) = item.destination, let file = download?.partialFile else { return nil }
        let name = file.lastPathComponent
        let partial = path.text.contains("/") ? path.parent.appending(name) : FilePath(name)
        guard case .file(let size)? = try? FileStatus(of: partial), size > 0 else { return nil }
        return (partial.text, size)
    }

    /// The bytes that are kept of a transfer that did not save its file, and how many of them an earlier run
    /// had left: all of them, if the server sent none.
    var kept: (bytes: Int64, resumedAt: Int64) {
        guard download != nil else { return (received, resumedAt) }
        let bytes = partial?.size ?? 0
        return (bytes, hasFetched || resumedAt > 0 ? min(resumedAt, bytes) : bytes)
    }

    /// The use that the next run has for the partial file; `nil` if there is none, or if the user asked for a
    /// part, and knows that it is not continued.
    var prospect: KeptParts.Prospect? {
        guard let partial, let download else { return nil }
        return switch download.obstacle(toContinuing: partial.size) {
        case nil: .goesOn
        case .ownRange: nil
        case let reason?: .startsOver(reason)
        }
    }

    /// The same after a failure, which may say that the address is no good any more.
    func prospect(after failure: Failure) -> KeptParts.Prospect? {
        guard prospect == .goesOn, case .file(let path) = item.destination else { return prospect }
        switch failure.outcome {
        case .server, .authorization:
            guard let status = operation.response?.statusCode, [401, 403, 404, 410].contains(status) else {
                return prospect
            }
            return download?.goesOnByOtherLink == true ? .needsLink(path.text) : .needsSameLink(path.text)
        case .checksum: return .hasOtherChecksum(path.text)
        case .diskFull:
            // The failure says it all.
            if case DownloadError.noRoomForBoth? = operation.error { return nil }
            return prospect
        default: return prospect
        }
    }

    var isPaused: Bool { clock.isPaused }

    // MARK: - Pausing

    mutating func pause(now: Double) {
        guard clock.pause(now: now) else { return }
        waitsUntil = -.infinity
        if let stream, !isContinuable { stream.hold() } else { operation.pause() }
    }

    /// Whether the rest can be asked for later. What standard output was given cannot be taken back: if the
    /// server gave no strong tag, it has to wait with the connection open.
    private var isContinuable: Bool {
        operation.response?.value(forHTTPHeaderField: "ETag")?.hasPrefix("\"") ?? false
    }

    /// The run is paused, and the operation is not in a queue that runs.
    mutating func standStill(now: Double) {
        _ = clock.pause(now: now, hasRun: false)
    }

    mutating func goOn(now: Double) {
        guard clock.goOn(now: now) else { return }
        goesOn = clock.hasRun
        stream?.letGo()
        operation.resume()
    }

    /// Gives it up if it has taken longer than `limit` seconds, pauses left out.
    mutating func end(after limit: Double, now: Double) {
        guard !isOverdue, !isPaused, seconds(now: now) > limit else { return }
        isOverdue = true
        operation.cancel()
    }

    // MARK: - What happens

    /// The operation begins to run, or stands.
    mutating func show(runs: Bool) {
        self.runs = runs
    }

    /// The head of a response came that has bytes of the file, or is the last one.
    mutating func respond() {
        reports.haveBegun = true
    }

    /// Records what has come.
    mutating func receive(_ bytes: Int64, of expected: Int64?) {
        reports.areAhead = false
        waitsUntil = -.infinity
        count(bytes, of: expected)
    }

    private mutating func count(_ bytes: Int64, of expected: Int64?) {
        if bytes > received { (hasFetched, goesOn) = (true, false) }
        (received, self.expected) = (bytes, expected)
    }

    /// The attempt begins behind `offset` bytes, which stay.
    mutating func resume(at offset: Int64, now: Double) {
        waitsUntil = -.infinity
        guard !hasFetched else {
            // After a failure of the disk fewer may be there than had come.
            if offset < received { fallBack(to: offset, now: now) }
            return
        }
        // They are an earlier run's: this one did not fetch them.
        (received, resumedAt) = (offset, offset)
        clock.begin(at: offset, now: now)
    }

    /// The received bytes are thrown away.
    mutating func startOver(now: Double) {
        resumedAt = 0
        // It has asked for nothing yet, and threw away what an earlier run had left. It may begin with a copy
        // of the user's file now.
        guard reports.haveBegun || received > 0 else { return }
        // Whatever is kept from now on, this run fetched.
        hasFetched = true
        fallBack(to: 0, now: now)
    }

    /// Of the bytes that were reported only `offset` are left. The event of that has told it.
    private mutating func fallBack(to offset: Int64, now: Double) {
        received = offset
        (reports.told, reports.areAhead) = (offset, true)
        clock.begin(at: offset, now: now)
    }

    /// The server has named another entity tag for what seems to be the same file.
    /// - Returns: whether that is worth a word: once, at the second time.
    mutating func noteOtherTag() -> Bool {
        otherTags += 1
        return otherTags == 2
    }

    /// What is odd about a response that brings a file: a page, where the name is that of an archive or an image.
    func warning(of response: HTTPURLResponse) -> String? {
        guard case .file(let path) = item.destination, received == 0, resumedAt == 0,
            (200..<300).contains(response.statusCode),
            let type = response.value(forHTTPHeaderField: "Content-Type")?.split(separator: ";").first,
            ["text/html", "application/xhtml+xml"].contains(
                type.trimmingCharacters(in: .whitespaces).lowercased()
            ),
            FileName.namesArchiveOrImage(path.name)
        else { return nil }
        return "the server sends text/html, which its name does not say: does the network ask for a sign-in?"
    }

    /// The next attempt begins after a while.
    mutating func wait(_ retry: Retry, now: Double) {
        waitsUntil = now + retry.delay
        if case .error(let error) = retry.cause { setback = Failure(error) }
    }

    /// The failure that `error` means here. Where standard output or a terminal has bytes of an attempt that
    /// failed, and the server does not prove that the rest belongs to them, it is that attempt that failed.
    func failure(_ error: any Error) -> Failure {
        guard download == nil, let setback else { return Failure(error) }
        switch error {
        case ResumeError.representationChanged, ResumeError.mustStartOver: break
        default: return Failure(error)
        }
        return Failure(
            setback.outcome,
            setback.sentence + " The server does not prove that what it has now is the rest of it."
        )
    }

    // MARK: - Progress

    /// The process was stopped until now.
    mutating func skip(to now: Double) {
        clock.skip(to: now)
    }

    /// Measures the speed, and returns what to show.
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

    /// An event, if there is more than the last one said.
    mutating func news(_ index: Int) -> ItemProgress? {
        guard received != reports.told else { return nil }
        reports.told = received
        let speed = isPaused ? nil : clock.meter.speed.map { Int64(saturated: $0) }
        return ItemProgress(item: index + 1, received: received, expected: expected, speed: speed)
    }

    /// The duration in seconds, pauses left out.
    func seconds(now: Double) -> Double { clock.seconds(now: now) }

    /// The proof that the saved bytes are the whole; `nil` while nothing is saved. Of a descriptor or a
    /// device it is known only that there is none.
    var proof: DownloadedFile.Proof? {
        if let download { return download.downloadedFile?.proof }
        return operation.metrics?.isEndProven == false ? .unverifiable : nil
    }

    /// The line that says it is done.
    func summary(length: Int64, now: Double) -> String {
        let seconds = max(seconds(now: now), 0.001)
        let fetched = ByteCount(Int64(saturated: Double(max(0, length - resumedAt)) / seconds)).text
        var parts = ["\(ByteCount(length).text) in \(TimeSpan(elapsed: seconds).text)", "\(fetched)/s"]
        if resumedAt > 0 { parts.append("resumed at \(ByteCount(resumedAt).text)") }
        switch proof {
        case .digest(let digest): parts.append("verified \(digest.algorithm.rawValue)")
        case .unverifiable: parts.append("perhaps incomplete: the server did not say where it ends")
        case .overlap: parts.append("joined by comparing: nothing else shows that it is one file")
        case .range(let range):
            parts.append("the bytes \(range.lowerBound)-\(range.upperBound - 1) of the whole")
        case .length, .existing, nil: break
        }
        return "\(place): " + parts.joined(separator: ", ")
    }
}
