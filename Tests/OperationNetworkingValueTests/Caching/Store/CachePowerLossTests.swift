import Foundation
import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Replays every beginning of what a cache did to its disk, loses what was not synchronized, and has the next
/// process look at what is left.
@Suite(.timeLimit(.minutes(5)))
struct CachePowerLossTests {
    /// The bodies that the story stores, by the URL and the tag of their heads.
    private typealias Bodies = [String: [String: Data]]

    private static let urls = ["http://a/1", "http://a/2"]

    /// Stores, replaces, validates, invalidates and removes; returns what has ever been stored.
    private func story(_ disk: DiskTier) throws -> Bodies {
        var bodies: Bodies = [:]
        var id: Int64 = 0
        func store(_ url: String, _ length: Int, replacing: Set<Int64> = []) throws {
            id += 1
            let (body, tag) = (sampleBytes(length, UInt8(id)), "\"v\(id)\"")
            bodies[url, default: [:]][tag] = body
            let file = DiskTier.Body(disk, declaredLength: 0)
            file.write(body.prefix(length / 2))
            file.write(Data(body.dropFirst(length / 2)))
            try #require(file.finish(as: id))
            let entry = CacheEntry(
                id: id,
                head: sampleHead(url, length: length, ["ETag": tag, "Cache-Control": "max-age=600"])
            )
            let variant = StoredVariant(partition: "", entry: entry, isOnDisk: true)
            _ = try disk.change(url, by: .insert(variant, replacing: replacing, invalidated: nil))
        }
        let (one, two) = (Self.urls[0], Self.urls[1])
        try store(one, 5_000)
        try store(two, 300)
        try store(one, 7_001, replacing: [1])
        try store(one, 40)
        let found = try #require(try disk.change(one, by: .invalidate(partition: "")))
        let entry = found.variants[0].entry
        var head = entry.head
        (head.isInvalidated, head.responseTime) = (false, 2000)
        _ = try disk.change(one, by: .update(entry, to: head))
        _ = try disk.change(two, by: .removeAll)
        try store(two, 5_000)
        _ = try disk.change(one, by: .remove([3]))
        return bodies
    }

    @Test func everyMomentLeavesWholeResponsesOrNone() throws {
        let directory = try MemoryDirectory()
        let changes = Locked<[FileChange]>([])
        let bodies = try story(
            DiskTier(path: directory.url.path, capacity: 1 << 20) { change in
                changes.change { $0.append(change) }
            }
        )
        let recorded = changes.withLock { $0 }
        #expect(recorded.count > 40)
        var disk = DiskModel()
        var found = 0
        for count in 0...recorded.count {
            if count > 0 { disk.apply(recorded[count - 1]) }
            let random = (1...6).map {
                PowerLoss.atRandom(SeededGenerator(seed: $0 &* 1000 &+ UInt64(count)))
            }
            for var loss in PowerLoss.regular + random {
                let left = try MemoryDirectory()
                try Self.write(disk.contents(after: &loss), to: left)
                let later = DiskTier(path: left.url.path, capacity: 1 << 20)
                for url in Self.urls {
                    guard case .other(let file?) = later.look(at: url, known: nil, using: "") else {
                        continue
                    }
                    for variant in file.variants {
                        let entry = variant.entry
                        guard let body = later.openBody(entry) else { continue }
                        let tag = entry.head.fields["ETag"] ?? ""
                        let bytes = try body.read(Int(entry.head.length) + 1, at: 0)
                        #expect(bytes == bodies[url]?[tag], "after \(count) changes, \(url) \(tag)")
                        found += 1
                    }
                }
                // The next process stores there.
                _ = try story(later)
            }
        }
        #expect(found > 100)
    }

    /// Everything was synchronized before it got its name: nothing that was stored is lost with the rest.
    @Test func whatIsStoredAndSynchronizedIsThereAfterALoss() throws {
        let directory = try MemoryDirectory()
        let changes = Locked<[FileChange]>([])
        let disk = DiskTier(path: directory.url.path, capacity: 1 << 20) { change in
            changes.change { $0.append(change) }
        }
        _ = try story(disk)
        disk.synchronizeNames()
        var model = DiskModel()
        for change in changes.withLock({ $0 }) { model.apply(change) }
        for var loss in PowerLoss.regular {
            let left = try MemoryDirectory()
            try Self.write(model.contents(after: &loss), to: left)
            let later = DiskTier(path: left.url.path, capacity: 1 << 20)
            let stored = Self.urls.flatMap { url -> [CacheEntry] in
                guard case .other(let file?) = later.look(at: url, known: nil, using: "") else { return [] }
                return file.variants.map(\.entry).filter { later.openBody($0) != nil }
            }
            #expect(stored.map(\.id) == [4, 5])
        }
    }

    private static func write(_ contents: [String: Data], to directory: MemoryDirectory) throws {
        let folder = try CacheFolder(DiskTier.folderName, in: CacheFolder(path: directory.url.path))
        for (name, bytes) in contents { try folder.create(name).write(bytes.span, at: 0) }
    }
}
