import Foundation
import FoundationNetworking
import OperationNetworking

// Handles items whose files exist. Used on the run's queue.
extension Run {
    /// Decides what to do with an existing file, and does it.
    func decide(_ index: Int, _ path: FilePath, _ size: Int64) {
        do {
            // A run was killed just after the file was complete.
            if !settings.replacesFiles { DownloadOperation.removeLeftovers(beside: path.url) }
            let request = settings.question(for: items[index].url)
            let verdict: FileVerdict =
                try settings.replacesFiles
                ? .unrecorded
                : FileVerdict(
                    of: path.url,
                    for: request,
                    as: settings.identity(of: request),
                    under: settings.verification(of: request)
                )
            let verification: FileStep.Verification = items[index].digests.isEmpty ? .unneeded : .pending
            let step = FileStep(verdict, path, isEmpty: size == 0, verification, settings)
            try take(step, index, path, size, verdict)
        } catch {
            fail(index, Failure(error), nil)
        }
    }

    private func take(
        _ step: FileStep,
        _ index: Int,
        _ path: FilePath,
        _ size: Int64,
        _ verdict: FileVerdict
    ) throws {
        switch step {
        case .fetch(let replaces): try fetch(index, path, .replacing(replaces))
        case .ask: try fetch(index, path, .ifChanged)
        case .verify: verify(index, path, size, verdict)
        case .resume where FileStatus.isLink(path.text): throw Failure(link: path)
        case .resume: try fetch(index, path, .continuing)
        case .leave(let digest): report(alreadyThere: index, path, size, digest)
        case .refuse(let failure):
            // No option allows writing through a link.
            let isLink = failure.outcome == .exists && FileStatus.isLink(path.text)
            throw isLink ? Failure(link: path) : failure
        }
    }

    private func verify(_ index: Int, _ path: FilePath, _ size: Int64, _ verdict: FileVerdict) {
        let digests = items[index].digests
        items.beginCheck(index)
        // Reading a large file takes time.
        DispatchQueue.global().async { [self] in
            let result = Swift.Result { try ExistingFile.verify(path, digests) }
            queue.async { [self] in
                items.endCheck(index)
                guard stopOutcome == nil else { return }
                do {
                    let step = FileStep(verdict, path, isEmpty: size == 0, try result.get(), settings)
                    try take(step, index, path, size, verdict)
                } catch {
                    fail(index, Failure(error), nil)
                }
                fill()
            }
        }
    }

    // MARK: - Reporting

    /// The partial file of another download, or of none, that is kept beside a complete file; `nil` if there is none.
    func keptPart(beside path: FilePath) -> FilePath? {
        let part = FilePath(path.text + ".part")
        guard case .file(let size)? = try? FileStatus(of: part), size > 0,
            case .file? = try? FileStatus(of: FilePath(part.text + ".resume"))
        else { return nil }
        return part
    }

    /// The end of a line about a complete file beside which a partial file is kept.
    static func note(of part: FilePath) -> String { "; \(part.text) was not used, and is kept" }

    /// Reports a file that is complete. `digest` is its checksum; with `nil`, its record proves it.
    private func report(alreadyThere index: Int, _ path: FilePath, _ size: Int64, _ digest: FileDigest?) {
        tally.findAlreadyThere()
        let kept = keptPart(beside: path)
        let words = digest.map { ", verified \($0.algorithm.rawValue)" } ?? ""
        let rest = kept.map(Self.note) ?? ""
        reporter.show("\(path.text): already there (\(ByteCount(size).text))" + words + rest)
        var event = ItemFinished(index, items[index], .alreadyThere, bytes: size, digest: digest)
        event.proof = digest == nil ? .record : .digest
        event.partialPath = kept?.text
        emit(event)
    }

    func report(upToDate index: Int, _ transfer: Transfer) {
        tally.findUpToDate()
        var kept: FilePath?
        var size: Int64 = 0
        if case .file(let path) = transfer.item.destination {
            kept = keptPart(beside: path)
            if case .file(let length)? = try? FileStatus(of: path) { size = length }
        }
        // The library has checked it before it asked the server.
        let digest = ExistingFile.strongest(transfer.item.digests)
        let words = digest.map { ", verified \($0.algorithm.rawValue)" } ?? ""
        let rest = kept.map(Self.note) ?? ""
        reporter.show("\(transfer.place): up to date" + words + rest)
        var event = ItemFinished(index, transfer, .upToDate, bytes: size, now: Self.now)
        event.proof = digest.map { _ in .digest }
        event.digest = digest?.description
        event.partialPath = kept?.text
        emit(event)
    }
}

/// A file that existed before the run.
enum ExistingFile {
    /// Reads the file, and compares its checksums with the expected ones.
    ///
    /// - Returns: its strongest expected digest, `nil` if none is expected; or the failure of a file with
    ///   another digest.
    /// - Throws: the error if it cannot be read.
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

    /// The digest that is hardest to forge.
    static func strongest(_ digests: [FileDigest]) -> FileDigest? {
        digests.max { $0.bytes.count < $1.bytes.count }
    }
}
