import Foundation
import FoundationNetworking
import OperationNetworking

// Items whose files are there already. On the run's queue.
extension Run {
    /// Decides what becomes of one, and does it. `earlier`: the transfer that has cleared away what a run
    /// that was killed had left; `nil`: nothing has begun for this item before.
    func decide(_ index: Int, _ path: FilePath, _ size: Int64, after earlier: EarlierTransfer? = nil) {
        do {
            // Before anything is known of it.
            let file = ExaminedFile(of: path)
            let request = settings.question(for: items[index].url)
            let standing: FileStanding =
                try settings.replacesFiles
                ? .unrecorded
                : FileStanding(
                    of: path.url,
                    for: request,
                    as: settings.asker(of: request),
                    under: settings.verification(of: request)
                )
            let verification: FileStep.Verification = items[index].digests.isEmpty ? .unneeded : .pending
            let step = FileStep(standing, path, isEmpty: size == 0, verification, settings)
            // A run that was killed just after the file was complete may have left something: that is for the
            // operation to clear away, which then says that the file is there.
            let mayHaveLeftovers =
                switch step {
                case .leave, .refuse, .verify, .compare: StalePart.mayBeLeft(beside: path.url)
                case .fetch, .ask: false
                }
            if mayHaveLeftovers, earlier == nil, !settings.fetchesOnlyChanges, !FileStatus.isLink(path.text) {
                return try fetch(index, path, .replacing(.nothing))
            }
            try take(step, index, file, size, standing, after: earlier)
        } catch {
            fail(index, Failure(error), nil, after: earlier)
        }
    }

    private func take(
        _ step: FileStep,
        _ index: Int,
        _ file: ExaminedFile,
        _ size: Int64,
        _ standing: FileStanding,
        after earlier: EarlierTransfer?
    ) throws {
        let path = file.path
        switch step {
        case .fetch(let replacement): try fetch(index, path, .replacing(replacement), after: earlier)
        case .ask: try fetch(index, path, .ifChanged, after: earlier)
        case .verify: verify(index, file, size, standing, after: earlier)
        case .compare: try compare(index, file, after: earlier)
        case .leave(let digest):
            report(alreadyThere: index, path, size, digest, digest == nil ? .record : .digest, earlier)
        case .refuse(let failure):
            // No option makes it write through a link.
            let isLink = failure.outcome == .exists && FileStatus.isLink(path.text)
            throw isLink ? Failure(link: path) : failure
        }
    }

    // MARK: - Checksums

    private func verify(
        _ index: Int,
        _ file: ExaminedFile,
        _ size: Int64,
        _ standing: FileStanding,
        after earlier: EarlierTransfer?
    ) {
        let digests = items[index].digests
        items.beginCheck(index)
        // Reading a large file takes its time.
        DispatchQueue.global().async { [self] in
            let result = Swift.Result { try file.examine { try ExistingFile.verify(file.path, digests) } }
            queue.async { [self] in
                items.endCheck(index)
                guard stopOutcome == nil else { return }
                do {
                    if let verification = try result.get() {
                        items.judge(index, verification.failure)
                        let step = FileStep(standing, file.path, isEmpty: size == 0, verification, settings)
                        try take(step, index, file, size, standing, after: earlier)
                    } else {
                        fetchRemoved(index, file.path, after: earlier)
                    }
                } catch {
                    fail(index, Failure(error), nil, after: earlier)
                }
                fill()
            }
        }
    }

    // MARK: - The last bytes

    private func compare(_ index: Int, _ file: ExaminedFile, after earlier: EarlierTransfer?) throws {
        let path = file.path
        guard let comparison = try FileComparison(of: path.url) else {
            return try fetch(index, path, .replacing(.nothing), after: earlier)
        }
        let item = items[index]
        guard !settings.asksForRange else {
            // Nothing can be compared: the file is fetched, or refused.
            guard settings.fetchesOnlyChanges else {
                throw items.takeFailure(index)
                    ?? Failure(
                        uncontinuable: path,
                        because: "-c asks for a range of its own, and a Range field was given"
                    )
            }
            return try fetch(index, path, .replacing(.anyFile), after: earlier)
        }
        let operation = settings.comparingOperation(item, comparison, after: earlier)
        let compared = ComparedFile(file: file, comparison: comparison)
        let transfer = Transfer(item, operation, comparison: compared, after: earlier, now: Self.now)
        begin(transfer, index, isNews: earlier == nil)
    }

    /// Goes on with what the comparison showed.
    func didCompare(
        _ index: Int,
        _ transfer: Transfer,
        _ compared: ComparedFile,
        _ error: (any Error)?
    ) {
        let (path, comparison) = (compared.file.path, compared.comparison)
        let operation = transfer.operation
        let isTooLong = (error as? URLError)?.code == .dataLengthExceedsMaximum
        let data = isTooLong ? nil : operation.responseData ?? Data()
        let isAnswer =
            error == nil || isTooLong || error is ResponseSerializationError || error is ResumeError
        let outcome: FileComparison.Outcome? =
            // A part that is not what was asked for.
            if error is ResumeError {
                .unknown
            } else {
                operation.response.flatMap { comparison.outcome($0, data: data) }
            }
        do {
            switch try compared.file.fate() {
            case .unchanged: break
            case .removed: return fetchRemoved(index, path, after: EarlierTransfer(transfer, now: Self.now))
            case .changed: throw Failure(changed: path)
            }
            guard isAnswer, let outcome else {
                return fail(index, transfer.failure(error ?? URLError(.badServerResponse)), transfer)
            }
            try take(outcome, index, path, transfer)
        } catch {
            fail(index, Failure(error), transfer)
        }
    }

    private func take(
        _ outcome: FileComparison.Outcome,
        _ index: Int,
        _ path: FilePath,
        _ transfer: Transfer
    ) throws {
        let earlier = EarlierTransfer(transfer, now: Self.now)
        switch outcome {
        case .same(isNewer: false) where settings.fetchesOnlyChanges:
            report(upToDate: index, transfer, .overlap)
        case .begins(let started) where settings.continuesFiles || !items[index].digests.isEmpty:
            // Where it goes on is told then: an earlier run may have left more of it.
            reporter.tell("\(path.text): its last bytes are the server's")
            try fetch(index, path, .continuing(started), after: earlier)
        case .same, .begins, .differs, .unknown:
            if settings.fetchesOnlyChanges {
                return try fetch(index, path, .replacing(.anyFile), after: earlier)
            }
            if let failure = items.takeFailure(index) { throw failure }
            if case .same = outcome, case .file(let size) = try FileStatus(of: path) {
                return report(alreadyThere: index, path, size, nil, .overlap, earlier, of: transfer)
            }
            throw FileStatus.isLink(path.text)
                ? Failure(link: path) : Failure(uncontinuable: path, because: outcome.reason)
        }
    }

    /// Removes leftovers of an earlier run that no later one can use. One that stays is no reason to fail.
    private func removeStalePart(beside path: FilePath, _ item: Item) {
        try? StalePart.remove(beside: path.url, of: settings.request(for: item.url))
    }

    // MARK: - What is told

    /// The partial file that stays beside a file that is done (``StalePart``); `nil`: there is none.
    private func keptPart(beside path: FilePath) -> FilePath? {
        let part = FilePath(path.text + ".part")
        guard case .file(let size)? = try? FileStatus(of: part), size > 0,
            case .file? = try? FileStatus(of: FilePath(part.text + ".resume"))
        else { return nil }
        return part
    }

    private func report(
        alreadyThere index: Int,
        _ path: FilePath,
        _ size: Int64,
        _ digest: FileDigest?,
        _ proof: ItemFinished.Proof,
        _ earlier: EarlierTransfer?,
        of transfer: Transfer? = nil
    ) {
        tally.findAlreadyThere()
        removeStalePart(beside: path, items[index])
        let kept = keptPart(beside: path)
        let words =
            switch proof {
            case .overlap: ", same length and last bytes"
            default: digest.map { ", verified \($0.algorithm.rawValue)" } ?? ""
            }
        let rest = kept.map { "; \($0.text) stays beside it" } ?? ""
        reporter.tell("\(path.text): already there (\(ByteCount(size).text))" + words + rest)
        var event =
            transfer.map { ItemFinished(index, $0, .alreadyThere, bytes: size, now: Self.now) }
            ?? ItemFinished(index, items[index], .alreadyThere, bytes: size, digest: digest, after: earlier)
        event.proof = proof
        event.partialPath = kept?.text
        tell(event)
    }

    /// `proof`: what is known besides what the server says.
    func report(upToDate index: Int, _ transfer: Transfer, _ proof: ItemFinished.Proof?) {
        tally.findUpToDate()
        var kept: FilePath?
        if case .file(let path) = transfer.item.destination {
            removeStalePart(beside: path, transfer.item)
            kept = keptPart(beside: path)
        }
        // The library has read it before it asked.
        let digest = transfer.comparison == nil ? ExistingFile.strongest(transfer.item.digests) : nil
        let words =
            switch proof {
            case .overlap: ", same length and last bytes"
            default: digest.map { ", verified \($0.algorithm.rawValue)" } ?? ""
            }
        let rest = kept.map { "; \($0.text) stays beside it" } ?? ""
        reporter.tell("\(transfer.place): up to date" + words + rest)
        var size: Int64 = 0
        if case .file(let path) = transfer.item.destination,
            case .file(let length)? = try? FileStatus(of: path)
        {
            size = length
        }
        var event = ItemFinished(index, transfer, .upToDate, bytes: size, now: Self.now)
        event.proof = digest.map { _ in .digest } ?? proof
        event.digest = digest?.description
        event.partialPath = kept?.text
        tell(event)
    }
}

extension FileComparison.Outcome {
    /// Why a file cannot be continued, as a clause.
    fileprivate var reason: String {
        switch self {
        case .differs: "it is not the beginning of what the server has"
        case .unknown:
            "the server did not send just the part that was asked for, so nothing shows that it is the beginning of what "
                + "the server has"
        case .same, .begins: "it is what the server has"
        }
    }
}

/// A file that existed before the run.
enum ExistingFile {
    /// Reads it, and compares it with what it has to be.
    ///
    /// Each digest opens the file anew: an ``ExaminedFile`` tells whether it was the same one each time.
    ///
    /// - Returns: the strongest digest that it has, `nil` when nothing is expected; or the failure of a file
    ///   that has another one.
    /// - Throws: why it cannot be read.
    static func verify(_ path: FilePath, _ expected: [FileDigest]) throws -> FileStep.Verification {
        for digest in expected {
            let actual = try FileDigest.of(file: path.url, algorithm: digest.algorithm)
            guard actual == digest else {
                return .wrong(
                    Failure(
                        .checksum,
                        "\(path.text) exists, and its \(digest.algorithm.rawValue) is \(actual.hex), not "
                            + "\(digest.hex); --overwrite replaces it."
                    )
                )
            }
        }
        return .right(strongest(expected))
    }

    /// The digest that proves most.
    static func strongest(_ digests: [FileDigest]) -> FileDigest? {
        digests.max { $0.bytes.count < $1.bytes.count }
    }
}
