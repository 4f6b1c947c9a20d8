import Foundation
import Glibc
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Directories and files that others made, and disks that take nothing: memory works on, and nothing of
/// others is touched.
@Suite(.timeLimit(.minutes(2)))
struct StoreTrustTests {
    private let directory: TemporaryDirectory
    private let key = CacheKey(url: "http://a/1")

    init() throws {
        directory = try TemporaryDirectory()
    }

    private var path: String { directory.file("cache").path }

    /// Stores and finds, whatever the disk does, and says whether the disk is used.
    private func works(_ store: TieredStore) async throws -> Bool {
        for length in [1000, 100_000] {
            let key = CacheKey(url: "http://a/\(length)")
            let old = try await store.found(key).map(\.id)
            let entry = try #require(try await store.put(key, sampleBytes(length), replacing: old))
            #expect(try await store.found(key) == [entry])
            #expect(try await store.body(entry, key) == sampleBytes(length))
        }
        store.waitForChanges()
        return store.state.withLock { $0.isDiskOn }
    }

    // MARK: - The directory

    @Test func aDirectoryOfOthersIsNotUsed() async throws {
        let target = directory.file("target")
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: false)
        for mode in [0o777, 0o775, 0o1777, 0o722] {
            try? FileManager.default.removeItem(atPath: path)
            mkdir(path, 0o700)
            chmod(path, mode_t(mode))
            #expect(try await !works(TieredStore.sample(directory)), "\(String(mode, radix: 8))")
            #expect(try bodyNames(directory) == [])
        }
        try FileManager.default.removeItem(atPath: path)
        symlink(target.path, path)
        #expect(try await !works(TieredStore.sample(directory)))
        unlink(path)
        try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
        #expect(try await !works(TieredStore.sample(directory)))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("mine".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: target.path) == [])
    }

    @Test(.enabled(if: geteuid() == 0)) func aDirectoryOfAnotherUserIsNotUsed() async throws {
        mkdir(path, 0o700)
        chown(path, 12345, 12345)
        #expect(try await !works(TieredStore.sample(directory)))
        #expect(try FileManager.default.contentsOfDirectory(atPath: path) == [])
    }

    @Test func aDirectoryThatOthersMayOnlyReadIsUsed() async throws {
        mkdir(path, 0o755)
        chmod(path, 0o755)
        #expect(try await works(TieredStore.sample(directory)))
    }

    @Test func directoriesAboveAreMade() async throws {
        let store = TieredStore(
            memoryCapacity: 1 << 20,
            diskCapacity: 1 << 20,
            directory: directory.url.appendingPathComponent("a/b/c", isDirectory: true)
        )
        #expect(try await works(store))
        #expect(FileManager.default.fileExists(atPath: directory.url.path + "/a/b/c/index.sqlite"))
    }

    // MARK: - The index

    @Test func anIndexOfOthersIsNotUsed() async throws {
        let target = directory.file("target")
        try Data("precious".utf8).write(to: target)
        for kind in ["link", "hard link", "readable", "directory", "fifo"] {
            try? FileManager.default.removeItem(atPath: path)
            mkdir(path, 0o700)
            let index = path + "/index.sqlite"
            switch kind {
            case "link": symlink(target.path, index)
            case "hard link": link(target.path, index)
            case "readable":
                try Data().write(to: URL(fileURLWithPath: index))
                chmod(index, 0o644)
            case "directory": mkdir(index, 0o700)
            default: mkfifo(index, 0o600)
            }
            #expect(try await !works(TieredStore.sample(directory)), "\(kind)")
            #expect(try Data(contentsOf: target) == Data("precious".utf8), "\(kind)")
        }
    }

    @Test func aLinkInPlaceOfTheLogIsNotFollowed() async throws {
        let target = directory.file("target")
        try Data("precious".utf8).write(to: target)
        // Beside an empty index, where SQLite removes it, and beside one with entries.
        for _ in 0..<2 {
            mkdir(path, 0o700)
            for suffix in ["-wal", "-shm"] {
                unlink(path + "/index.sqlite" + suffix)
                symlink(target.path, path + "/index.sqlite" + suffix)
            }
            _ = try await works(TieredStore.sample(directory))
            #expect(try Data(contentsOf: target) == Data("precious".utf8))
        }
    }

    @Test(.enabled(if: geteuid() == 0)) func anIndexOfAnotherUserIsNotUsed() async throws {
        mkdir(path, 0o700)
        try Data().write(to: URL(fileURLWithPath: path + "/index.sqlite"))
        chmod(path + "/index.sqlite", 0o600)
        chown(path + "/index.sqlite", 12345, 12345)
        #expect(try await !works(TieredStore.sample(directory)))
    }

    // MARK: - Bodies

    @Test(arguments: ["link", "hard link", "readable", "directory", "fifo", "another user's"])
    func aBodyOfOthersIsNotBelieved(kind: String) async throws {
        guard kind != "another user's" || geteuid() == 0 else { return }
        let entry = try #require(try await TieredStore.sample(directory).put(key, sampleBytes(200_000)))
        let store = TieredStore.sample(directory, memory: 0)
        store.housekeeping.sync {}
        let target = directory.file("target")
        // The right bytes: it is who may have written them that counts.
        try sampleBytes(200_000).write(to: target)
        chmod(target.path, 0o600)
        let body = path + "/\(entry.id).body"
        if kind != "readable" { unlink(body) }
        switch kind {
        case "link": symlink(target.path, body)
        case "hard link": link(target.path, body)
        case "readable": chmod(body, 0o644)
        case "directory": mkdir(body, 0o700)
        case "fifo": mkfifo(body, 0o600)
        default:
            try sampleBytes(200_000).write(to: URL(fileURLWithPath: body))
            chmod(body, 0o600)
            chown(body, 12345, 12345)
        }
        #expect(try await store.found(key) == [entry])
        #expect(try await store.body(entry, key) == nil)
        #expect(try await store.found(key) == [])
        #expect(try Data(contentsOf: target) == sampleBytes(200_000))
        #expect(try await store.put(key, sampleBytes(200_000)) != nil)
    }

    // MARK: - Disks

    @Test(.enabled(if: MountedDisk.isPermitted)) func aReadOnlyDiskIsNotUsed() async throws {
        let disk = try MountedDisk(capacity: 4 << 20)
        do {
            let store = disk.store()
            #expect(try await works(store))
        }
        try disk.makeReadOnly()
        #expect(try await !works(disk.store()))
    }

    @Test(.enabled(if: MountedDisk.isPermitted)) func aFullDiskDropsEntriesAndLeavesNothing() async throws {
        let disk = try MountedDisk(capacity: 3 << 20)
        // Without memory, so that what the disk refuses is not found.
        let store = disk.store(memory: 0)
        var stored: [(CacheKey, CacheEntry)] = []
        var dropped = 0
        for number in 0..<40 {
            let key = CacheKey(url: "http://a/\(number)")
            if let entry = try await store.put(key, sampleBytes(150_000, UInt8(number))) {
                stored.append((key, entry))
            } else {
                dropped += 1
                #expect(try await store.found(key) == [])
            }
        }
        #expect(dropped > 0 && stored.count > 2)
        for (number, (key, entry)) in stored.enumerated() {
            #expect(try await store.found(key) == [entry])
            #expect(try await store.body(entry, key) == sampleBytes(150_000, UInt8(number)))
        }
        store.waitForChanges()
        let files = try disk.names().filter { !$0.hasPrefix("index") }
        #expect(Set(files) == Set(stored.map { "\($0.1.id).body" }))
        // Room is made by removing.
        for (key, entry) in stored { store.remove(entry.id, of: key) }
        store.waitForChanges()
        #expect(try await store.put(key, sampleBytes(150_000)) != nil)
    }

    @Test func aLimitOfFilesTurnsTheDiskOffBeforeASignalComes() async throws {
        let path = self.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            var limit = rlimit(rlim_cur: 1 << 20, rlim_max: 1 << 20)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            let store = TieredStore(
                memoryCapacity: 1 << 20,
                diskCapacity: 100 << 20,
                directory: URL(fileURLWithPath: path, isDirectory: true)
            )
            let key = CacheKey(url: "http://a/1")
            store.waitForChanges()
            let (long, short) = (sampleBytes(2 << 20), sampleBytes(1000))
            let (first, second) = (try await store.put(key, long), try await store.put(key, short))
            store.waitForChanges()
            #expect(first == nil && second != nil)
        }
    }

    @Test(.enabled(if: MountedDisk.isPermitted)) func aBodyThatTheDiskRefusesIsKnownToBeLost() throws {
        let disk = try MountedDisk(capacity: 2 << 20)
        let store = disk.store(memory: 0)
        let head = sampleHead("http://a/1", length: 4 << 20)
        let writer = try #require(store.write(head, for: CacheKey(url: "http://a/1"), replacing: []))
        for _ in 0..<30 where !writer.isLost {
            writer.append(sampleBytes(200_000).span)
            store.bodies.sync {}
        }
        #expect(writer.isLost)
        writer.abandon()
    }
}
