import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// The partial files of a download as the destination of a ``SinkWriter``. A complete and verified file gets its name.
///
/// Used on the writer's queue. Errors do not end the writer: they are stored in ``DownloadSink/Shared``, and later
/// bytes are dropped.
final class PartDestination: SinkDestination, @unchecked Sendable {
    // @unchecked: used only on the writer's queue, and by `deinit`; the state that the network thread uses as well is
    // in `shared` and `progress`.

    let canBeEmptied = true
    let keepsRest = true

    private var plan: DownloadPlan
    private let progress: Locked<DownloadProgress>
    private let shared: Locked<DownloadSink.Shared>
    private var parts: PartPair?
    /// The content that the file's bytes belong to: see ``StoredBytes/content``.
    private var content = 0
    /// The content of the bytes that are kept from before.
    private var keptContent = StoredBytes.keptContent
    /// The complete file, and the parts of other requests, that the body replaces.
    private var replaced: [KeptBody] = []
    private var digests: DownloadDigests?
    /// The offset of the next byte in the whole.
    private var offset: Int64 = 0
    /// Whether the server marks the end of the body.
    private var isEndMarked = true
    /// The range of the whole that the file has, if the caller's `Range` requested one.
    private var ownRange: Range<Int64>?
    /// Whether the whole was requested again because of a wrong digest.
    private var hasStartedOver = false
    /// Whether a body has begun.
    private var hasBegun = false
    /// The condition that is sent, from the record of the existing file.
    private var condition: FileCondition?

    /// - Parameters:
    ///   - plan: the download.
    ///   - progress: of the operation.
    ///   - shared: of the sink.
    init(_ plan: DownloadPlan, progress: Locked<DownloadProgress>, shared: Locked<DownloadSink.Shared>) {
        self.plan = plan
        self.progress = progress
        self.shared = shared
    }

    deinit { release() }

    private var partial: PartialDownload? { parts?.current }

    // MARK: - Opening

    func willOpen(for adapted: URLRequest?, token: String?) {
        plan.adapted = adapted
        plan.token = token
    }

    /// Finds the files of an earlier download, or creates one.
    func find() throws -> SinkContent {
        guard let destination = plan.options.destination else { throw DownloadError.noDestination }
        var parts: PartPair
        do {
            parts = try plan.parts(of: destination)
        } catch let error as DownloadError {
            // Nothing is saved through a link. But the file that it refers to may be current.
            guard case .destinationIsNotFile = error, plan.options.downloadsOnlyIfChanged,
                let condition = try condition(for: destination)
            else { throw error }
            shared.withLock { $0.refusal = error }
            return SinkContent(condition: condition)
        }
        if plan.options.startsOver, parts.current.count > 0 || parts.hasOthers {
            try parts.discard()
            parts = try plan.parts(of: destination)
        }
        self.parts = parts
        let partial = parts.current
        if plan.options.continuesForeignFile, partial.count == 0 {
            try partial.adopt { !self.shared.withLock { $0.isAbandoned } }
        }
        // Another attempt would have the same result.
        hasStartedOver = partial.isForeign
        digests = try DownloadDigests(plan, of: partial)
        shared.withLock { $0.held.count = partial.count }
        reportKeptBytes()
        progress.withLock { $0.didOpen(parts) }
        // Starting over accepts any response, in case the type of the file has really changed.
        replaced =
            plan.options.startsOver
            ? [] : parts.ofOtherRequests + (try plan.replaced(destination).map { [$0] } ?? [])
        let known = partial.recovered ?? partial.checkpoint?.partialContent(offset: partial.count)
        var content = SinkContent(
            partial: known,
            kept: parts.continuable?.recovered,
            replaced: replaced,
            lost: parts.lost
        )
        if plan.options.downloadsOnlyIfChanged { content.condition = try condition(for: destination) }
        return content
    }

    func didNotOpen(_ error: any Error) {
        // Opening is retried, and must not find the files of this attempt open.
        if error.isLackOfDescriptors { release() } else { fail(error) }
    }

    private func condition(for destination: URL) throws -> FileCondition? {
        let condition = try plan.condition(for: destination, digests: plan.options.expectedDigests)
        progress.withLock { $0.isConditional = condition != nil }
        self.condition = condition
        return condition
    }

    /// Records whether the existing file was changed since the request: a 304 then says nothing about the current one.
    private func checkCondition() {
        guard let condition, let destination = plan.options.destination else { return }
        let now = try? plan.condition(for: destination)
        if now != condition { progress.withLock { $0.isChangedMeanwhile = true } }
    }

    // MARK: - Receiving

    /// Prepares the file for a body.
    func begin(_ start: BodyStart) {
        hasBegun = true
        attempt { partial in
            if start.place.isStart {
                try startOver(with: start)
            } else if shared.withLock({ $0.held }) != StoredBytes(count: partial.count, content: content)
                || start.content != content
            {
                // The body may have been abandoned, and the next one may start over.
                guard shared.withLock({ $0.preparations == 1 }) else { return }
                throw DownloadError.partialFileReplaced(partial.partURL)
            } else {
                if try partial.isTouched() { try digests?.readAgain() }
                try digests?.take(start.head, as: .rest(after: partial.count))
                try begin(start, in: partial, digests)
            }
            isEndMarked = start.total != nil || start.head.marksEnd
            ownRange = start.ownRange
            if let partial = self.partial { progress.withLock { $0.didBegin(partial) } }
        }
        change { $0.preparations -= 1 }
    }

    /// Prepares for the bytes of another content. Existing bytes are kept until it is complete; if it cannot be
    /// saved, nothing has changed.
    private func startOver(with start: BodyStart) throws {
        guard let old = parts?.current else { return }
        if old.isForeign, plan.options.continuesForeignFile {
            progress.withLock { $0.keepsPartialFile = false }
            throw DownloadError.destinationExists(plan.options.destination ?? old.partURL)
        }
        let body: DownloadDigests.Body = start.ownRange != nil ? .part : .whole
        if parts?.beginsBeside == true {
            guard let next = try parts?.makeNext() else { return }
            do {
                let own = try DownloadDigests(plan, of: next)
                try own.take(start.head, as: body)
                try begin(start, in: next, own)
                digests?.abandon()
                digests = own
            } catch {
                try? next.discard()
                throw error
            }
            parts?.advance(to: next)
            if parts?.kept === old { keptContent = content }
        } else {
            let named = digests?.named
            try digests?.take(start.head, as: body)
            do {
                try begin(start, in: old, digests)
            } catch {
                // The first error is reported. A digest that is missing because of this one is reported at the end.
                try? digests?.takeBack(named, length: old.count)
                throw error
            }
            parts?.didStartOver()
        }
        content = start.content
        reportKeptBytes()
        if case .start(let reason?) = start.place { progress.withLock { $0.restarts.append(reason) } }
    }

    private func reportKeptBytes() {
        shared.withLock { [keptContent, kept = parts?.continuable] in
            $0.kept = kept.map { StoredBytes(count: $0.count, content: keptContent) }
        }
    }

    /// Goes back to the bytes that were kept.
    func goBackToKept() {
        attempt { _ in
            try parts?.goBack()
            guard let partial = parts?.current else { return }
            content = keptContent
            digests?.abandon()
            digests = try DownloadDigests(plan, of: partial)
            progress.withLock { $0.continues(with: partial) }
        }
    }

    private func begin(_ start: BodyStart, in partial: PartialDownload, _ digests: DownloadDigests?) throws {
        let servers = Set(start.trustedServers.map(\.digest))
        do {
            try partial.begin(start.place, total: start.total, origin: start.origin, trusting: servers) {
                checkpoint in
                checkpoint.namedDigest = digests?.named
                checkpoint.name = plan.options.destination.map(DownloadPlace.name) ?? ""
                checkpoint.options = plan.options.noted
                if let address = start.address { checkpoint.note(address) }
                if !start.isProven { checkpoint.isJoinedByOverlap = true }
            }
            offset = partial.position
        } catch {
            let isNext = partial !== parts?.current
            throw parts?.explained(error, length: start.total, next: isNext) ?? error
        }
    }

    func flush() {
        attempt { try $0.flush() }
    }

    // MARK: - SinkDestination

    /// The files are found by ``find()``.
    func open() -> Bool { true }

    /// Never called: ``begin(_:)`` decides what a new body replaces.
    func empty() {}

    func write(_ bytes: Span<UInt8>) -> Int {
        guard let partial, isUsable else { return bytes.count }
        do {
            try partial.write(bytes, at: offset)
            offset += Int64(bytes.count)
            digests?.advance(to: partial.count)
        } catch {
            let length = max(partial.total ?? 0, partial.count)
            take(parts?.explained(error, length: length, next: false) ?? error)
        }
        return bytes.count
    }

    /// Closes the files of an abandoned download.
    func close() throws {
        defer {
            release()
            checkCondition()
            if let destination = plan.options.destination { ClosingDownloads.leave(destination) }
        }
        let (keeps, hasOpened) = progress.withLock { ($0.keepsPartialFile, $0.hasOpened) }
        let hasRoom = shared.withLock { shared in shared.failure.map { !DiskSpace.isLack($0) } ?? true }
        // Bytes of an earlier operation are discarded as well, unless another operation uses them.
        if !keeps, !hasOpened { parts = try? plan.options.destination.map { try plan.parts(of: $0) } }
        // The error that ended the download is reported. The next download decides about bytes that cannot be committed
        // now.
        if keeps {
            try? parts?.current.flush()
            try? parts?.settle(hasRoom: hasRoom)
            if let partial {
                progress.withLock { progress in
                    progress.continues(with: partial)
                    // It has been discarded.
                    if !partial.isProvable { progress.checkpoint = nil }
                }
            }
        } else {
            try? parts?.discard()
        }
    }

    // MARK: - Errors

    /// Whether neither an error nor a demand has ended the body.
    private var isUsable: Bool { shared.withLock { $0.failure == nil && $0.demand == nil } }

    /// Performs a step on the file. An error ends the body, or is a reason to start over.
    private func attempt(_ body: (PartialDownload) throws -> Void) {
        guard let partial, isUsable else { return }
        do {
            try body(partial)
        } catch {
            take(error)
        }
    }

    private func take(_ error: any Error) {
        guard let error = error as? any UnusableBytesError else { return fail(error) }
        change { shared in
            shared.demand = error.reason
            shared.held = StoredBytes(count: partial?.count ?? 0, content: content)
        }
    }

    private func fail(_ error: any Error) {
        change { shared in
            shared.failure = error
            shared.held = StoredBytes(count: partial?.count ?? 0, content: content)
        }
    }

    private func change(_ body: (inout DownloadSink.Shared) -> Void) {
        let onChange = shared.withLock { shared in
            body(&shared)
            return shared.onChange
        }
        onChange?()
    }

    // MARK: - The end

    /// Checks the complete file, and gives it its name.
    func end(on writer: SinkWriter, _ then: @escaping @Sendable (SinkEnd) -> Void) {
        attempt { if try $0.isTouched() { try digests?.readAgain() } }
        let (failure, demand, again) = shared.withLock { ($0.failure, $0.demand, $0.again) }
        if let failure { return then(.failed(failure)) }
        if let demand { return then(.mustStartOver(demand)) }
        // The body ended before the end of the kept bytes.
        guard again == 0 else { return then(startOver(because: .overlapDiffers)) }
        guard let length = partial?.count else { return then(.failed(DownloadError.noDestination)) }
        guard let digests else { return then(finish(.success([]))) }
        digests.finish(length: length) { result in
            writer.perform { then(self.finish(result)) }
        }
    }

    private func finish(_ result: Result<[FileDigest], any Error>) -> SinkEnd {
        guard let partial, let parts, !shared.withLock({ $0.isAbandoned }) else {
            return .failed(URLError(.cancelled))
        }
        do {
            let computed = try result.get()
            if let error = objection(to: partial) {
                refute(by: nil)
                return tryAgain(error, nil)
            }
            let isJoinedByOverlap = partial.checkpoint?.isJoinedByOverlap ?? false
            let verified = try digests?.verify(computed, of: plan.options.destination ?? partial.partURL)
            let proof: DownloadedFile.Proof =
                verified.map { .digest($0) } ?? ownRange.map { .range($0) }
                ?? (!isEndMarked ? .unverifiable : isJoinedByOverlap ? .overlap : .length)
            let progress = progress.withLock { $0 }
            let download = DownloadedFile(
                file: plan.options.destination ?? partial.partURL,
                length: partial.count,
                proof: proof,
                digests: computed,
                bytesRecovered: progress.restarts.isEmpty ? progress.bytesRecovered : 0,
                restarts: progress.restarts
            )
            let origin = partial.checkpoint?.origin.headerFields ?? [:]
            let verification = partial.verification
            defer { self.progress.withLock { $0.isNaming = false } }
            try partial.finish(modified: partial.checkpoint?.modified) { file in
                plan.record(of: file, proof, origin: origin, under: verification, isWhole: ownRange == nil)
            } beforeNaming: {
                try plan.willFinish?(download, partial.partURL, verification)
                // It may have been cancelled while the bytes were synchronized.
                guard !shared.withLock({ $0.isAbandoned }) else { throw URLError(.cancelled) }
                self.progress.withLock { $0.isNaming = true }
            } afterNaming: {
                var parts = parts
                parts.dropOthers()
            }
            self.progress.withLock { progress in
                progress.partialFile = nil
                progress.checkpoint = nil
                progress.download = download
            }
            // The file now belongs to the user: removing it frees its space at once.
            release()
            return .done(nil)
        } catch let error as any UnusableBytesError {
            return startOver(because: error.reason)
        } catch let error as DownloadError {
            guard case .digestMismatch(_, _, let actual) = error else { return .failed(error) }
            return startOver(after: error, actual)
        } catch {
            return .failed(error)
        }
    }

    /// B10: downloads the whole once more. What was there before is kept.
    private func startOver(after error: DownloadError, _ digest: FileDigest) -> SinkEnd {
        refute(by: digest)
        guard !hasStartedOver else { return .failed(error) }
        hasStartedOver = true
        // P7: all bytes were there, so this is the first request, not a retry.
        return hasBegun ? tryAgain(error, .digestMismatch) : startOver(because: .digestMismatch)
    }

    /// Discards the received bytes because they are wrong. The next download compares again what cannot be truncated.
    private func refute(by digest: FileDigest?) {
        try? parts?.refute(by: digest)
        if let partial { shared.withLock { $0.held.count = partial.count } }
    }

    private func tryAgain(_ error: any Error, _ reason: RestartReason?) -> SinkEnd {
        if parts?.isRefuted == true {
            let goesBack = shared.withLock { shared in
                let kept = shared.kept
                shared.goBack(
                    to: kept ?? StoredBytes(count: shared.held.count, content: content, isRefuted: true)
                )
                return kept != nil
            }
            if goesBack { goBackToKept() }
        }
        shared.withLock { $0.demand = reason }
        return .mustTryAgain(error, reason)
    }

    /// Returns why a body cannot replace the kept bytes: its length, which the head may not have said, is known now
    /// (S27).
    private func objection(to partial: PartialDownload) -> (any Error)? {
        guard let origin = partial.checkpoint?.origin.headerFields, ownRange == nil else { return nil }
        let content = parts?.kept.flatMap { $0.checkpoint?.partialContent(offset: $0.count) }
        return ((content.map { [KeptBody($0, isSameFile: !$0.isRefuted)] } ?? []) + replaced).lazy
            .compactMap { $0.objection(to: origin, length: partial.count) }.first
    }

    /// Requests the whole; the demand lasts until it begins, however often that is tried.
    private func startOver(because reason: RestartReason) -> SinkEnd {
        shared.withLock { $0.demand = reason }
        return .mustStartOver(reason)
    }

    /// Closes all files: the operation, and so the sink, may be kept for long.
    private func release() {
        digests?.abandon()
        parts?.close()
        (digests, parts) = (nil, nil)
    }
}

extension BodyStart {
    /// The response, for a checkpoint.
    var origin: DownloadCheckpoint.Response {
        DownloadCheckpoint.Response(
            url: url.absoluteString,
            fields: head.fields,
            isHTTP10: head.version == "HTTP/1.0"
        )
    }
}

extension ResponseHead {
    /// Whether the end of the body can be distinguished from an interruption.
    var marksEnd: Bool {
        fields.contentLength != nil || (try? MessageLength.isChunked(fields)) == true
    }
}
