import Foundation
import FoundationNetworking
import OperationNetworkingSystem

@testable import OperationNetworking

/// A server's versions, and its answers to requests for the rest: a simulation without a network.
struct Version: Sendable, Hashable {
    let tag: String
    let bytes: [UInt8]
    /// The same.
    let data: Data

    /// Longer than the blocks that a checkpoint verifies, so that there is something between them.
    static let first = Version(
        tag: "\"v1\"",
        bytes: {
            var generator = SeededGenerator(seed: 1)
            return (0..<30_000).flatMap { _ in
                let word = generator.next()
                return (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
            }
        }()
    )
    /// The same but for bytes that no checkpoint verifies: only the order of what is written keeps them apart.
    static let second = Version(
        tag: "\"v2\"",
        bytes: first.bytes.enumerated().map { $0.offset < 30_000 ? ~$0.element : $0.element }
    )
    static let all = [first, second]

    private init(tag: String, bytes: [UInt8]) {
        self.tag = tag
        self.bytes = bytes
        data = Data(bytes)
    }

    /// One transfer, as far as `end`: the rest, if the kept bytes are of this version, else the whole.
    func send(to download: PartialDownload, until end: Int = .max, settlingEvery count: Int = .max) throws {
        let origin = Sample.origin(["ETag": tag, "Content-Length": "\(bytes.count)"])
        let isSame =
            download.checkpoint?.partialContent(offset: 0).validator == EntityValidator(["ETag": tag])
        let total = Int64(bytes.count)
        if isSame, download.count == total { return }
        try download.begin(isSame && download.count > 0 ? .end : .start(nil), total: total, origin: origin)
        var offset = Int(download.count)
        var pieces = 0
        while offset < min(end, bytes.count) {
            let next = min(offset + 30_000, end, bytes.count)
            try download.write(bytes.span.extracting(offset..<next))
            offset = next
            pieces += 1
            if pieces % count == 0 { try download.flush() }
        }
    }
}

/// Downloads of one file, one after the other.
enum DownloadStory: CaseIterable, Sendable {
    case fresh
    case interrupted
    case changed
    case replacing
    case discarded

    /// The file before, if there is one.
    var before: Data? { self == .replacing ? Data("an older file".utf8) : nil }
    var replacesFile: Bool { before != nil }
    /// The version of the server at the end, and later.
    var version: Version { self == .changed ? .second : .first }

    /// - Parameters:
    ///   - open: makes a download of the file.
    ///   - didProgress: is called with each download whenever something was committed, before and after.
    /// - Throws: what `open` and the downloads throw.
    func run(open: () throws -> PartialDownload, didProgress: (PartialDownload?) -> Void) throws {
        func session(_ body: (PartialDownload) throws -> Void) throws {
            let download = try open()
            defer { download.close() }
            try body(download)
        }
        switch self {
        case .fresh, .replacing:
            try session { download in
                try Version.first.send(to: download, settlingEvery: 4)
                didProgress(download)
                try download.finish(modified: 784_111_777)
            }
        case .interrupted:
            try session { download in
                try Version.first.send(to: download, until: 100_000, settlingEvery: 2)
                try download.flush()
                didProgress(download)
            }
            // Killed with bytes that are not committed.
            try session { try Version.first.send(to: $0, until: 200_000, settlingEvery: 3) }
            try session { download in
                didProgress(download)
                try Version.first.send(to: download, settlingEvery: 2)
                didProgress(download)
                try download.finish(modified: nil)
            }
        case .changed:
            try session { download in
                try Version.first.send(to: download, until: 200_000, settlingEvery: 4)
                try download.flush()
                didProgress(download)
            }
            didProgress(nil)
            // Killed with more bytes than were committed of the first version, and none of its own.
            try session { try Version.second.send(to: $0, until: 210_000) }
            try session { download in
                didProgress(download)
                try Version.second.send(to: download, settlingEvery: 3)
                didProgress(download)
                try download.finish(modified: nil)
            }
        case .discarded:
            try session { download in
                try Version.first.send(to: download, until: 100_000, settlingEvery: 2)
                didProgress(nil)
                try download.discard()
            }
        }
    }
}
