import Foundation
import FoundationNetworking

@testable import OperationNetworking

// What is read from files that an earlier process wrote. Their checksums are made right, or hardly any input would be read.

private let folder: URL = {
    let memory = URL(filePath: "/dev/shm", directoryHint: .isDirectory)
    let isThere = FileManager.default.isWritableFile(atPath: memory.path)
    return (isThere ? memory : FileManager.default.temporaryDirectory)
        .appending(path: "OperationNetworking-fuzz-\(ProcessInfo.processInfo.processIdentifier)")
}()

/// Lets a download go on from the checkpoint with this text, and from a part of some bytes.
func resume(fromCheckpoint body: [UInt8]) {
    let magic = "OperationNetworking-download \(DownloadCheckpoint.schema) "
    guard let digest = try? body.span.sha256Text(),
        case let file = Array((magic + digest + "\n").utf8) + body,
        let checkpoint = try? DownloadCheckpoint(fileBytes: file)
    else { return }
    guard let request = checkpoint.request.request else { return }
    for offset in [0, checkpoint.committed, checkpoint.total ?? .max] as [Int64] {
        let content = checkpoint.partialContent(offset: offset)
        _ = ResumeRequest(request, continuing: content).fields
        _ = ResumeRequest(request, continuing: content, comparing: .max).fields
    }
    try? resume(checkpoint, request)
    try? FileManager.default.removeItem(at: folder)
}

private func resume(_ checkpoint: DownloadCheckpoint, _ request: URLRequest) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let target = folder.appending(path: "a")
    let origin = DownloadCheckpoint.Response(url: "http://h/a", fields: ["ETag": "\"v1\""], isHTTP10: false)
    let first = try PartPair(request, to: target, replacesFile: true).current
    try first.begin(.start(nil), total: nil, origin: origin)
    try first.write(Array("0123456789".utf8).span, at: 0)
    try first.flush()
    first.close()
    // It names its part: nothing else is read.
    let file = folder.appending(path: "a.part.resume")
    let named = try DownloadCheckpoint(fileBytes: Array(try Data(contentsOf: file)))
    var checkpoint = checkpoint
    (checkpoint.part, checkpoint.asked) = (named.part, named.asked)
    try Data(try checkpoint.fileBytes()).write(to: file)
    let download = try PartPair(request, to: target, replacesFile: true).current
    try? download.begin(.end, total: nil, origin: origin)
    try? download.write(Array("abc".utf8).span, at: download.position)
    try? download.flush()
    try? download.begin(.again(from: 0), total: download.total, origin: origin)
    try? download.write(Array("abc".utf8).span, at: download.position)
    try download.begin(.start(nil), total: 3, origin: origin)
    try download.write(Array("abc".utf8).span, at: download.position)
    try download.finish(modified: nil)
}

/// Reads a journal of these lines, and lets its batch begin, as a value.
func resume(fromJournal body: [UInt8]) {
    var file: [UInt8] = []
    for line in body.split(separator: UInt8(ascii: "\n")) {
        let line = Array(line)
        guard let digest = try? line.span.sha256Text() else { return }
        file += Array((digest.prefix(16) + " ").utf8) + line + [UInt8(ascii: "\n")]
    }
    guard let replay = try? JournalReplay(file) else { return }
    let items = replay.header.items.compactMap { $0.item(in: URL(filePath: "/")) }
    guard items.count == replay.header.items.count else { return }
    let known = replay.known(items, retriesFailed: false) { file in
        // Every file is as it was written down.
        replay.entries.first { items[$0.key].destination == file }?.value.finished?.stamp
    }
    var estimate = BatchEstimate(count: items.count)
    for (index, result) in known {
        let length = (try? result.get().length) ?? 0
        estimate.begin(index, at: length, length: length)
        estimate.finish(index)
    }
    precondition((0...1).contains(estimate.fraction))
    let options = replay.header.options.options
    var run = DownloadRun(
        items.map { Origin($0.url) },
        done: Set(known.keys),
        limit: options.maximumActiveDownloadsPerHost,
        total: options.maximumActiveDownloads
    )
    var count = BatchCount(members: items.count)
    for index in known.keys { _ = count.record(.ended, of: index) }
    while let index = run.next() {
        _ = run.end(index, .finished)
        _ = count.record(.ended, of: index)
    }
    precondition(count.haveAllEnded)
    _ = BandwidthLimit(bytesPerSecond: options.bytesPerSecond).advisedPiece
    _ = options.retryPolicy?.delay(
        after: .error(.timedOut),
        method: "GET",
        retries: options.retryPolicy?.maximumRetries ?? 0,
        elapsed: 0,
        chance: 1
    )
}
