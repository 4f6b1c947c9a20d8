import Foundation
import Glibc
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingSystem
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

    /// Stores and finds, whatever the disk does, and says whether the disk has it.
    private func works(_ store: ResponseStore) async throws -> Bool {
        for length in [1000, 100_000] {
            let key = CacheKey(url: "http://a/\(length)")
            let old = try await store.found(key).map(\.id)
            let entry = try #require(try await store.put(key, sampleBytes(length), replacing: old))
            #expect(try await store.found(key) == [entry])
            #expect(try await store.body(entry, key) == sampleBytes(length))
        }
        return store.diskUsage > 100_000
    }

    // MARK: - The directory

    @Test func aDirectoryOfOthersIsNotUsed() async throws {
        let target = directory.file("target")
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: false)
        for mode in [0o777, 0o775, 0o1777, 0o722] {
            try? FileManager.default.removeItem(atPath: path)
            mkdir(path, 0o700)
            chmod(path, mode_t(mode))
            #expect(try await !works(ResponseStore.sample(directory)), "\(String(mode, radix: 8))")
            #expect(try FileManager.default.contentsOfDirectory(atPath: path) == [])
        }
        try FileManager.default.removeItem(atPath: path)
        symlink(target.path, path)
        #expect(try await !works(ResponseStore.sample(directory)))
        unlink(path)
        try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
        #expect(try await !works(ResponseStore.sample(directory)))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("mine".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: target.path) == [])
    }

    @Test(.enabled(if: geteuid() == 0)) func aDirectoryOfAnotherUserIsNotUsed() async throws {
        mkdir(path, 0o700)
        chown(path, 12345, 12345)
        #expect(try await !works(ResponseStore.sample(directory)))
        #expect(try FileManager.default.contentsOfDirectory(atPath: path) == [])
    }

    @Test func aDirectoryThatOthersMayOnlyReadIsUsed() async throws {
        mkdir(path, 0o755)
        chmod(path, 0o755)
        #expect(try await works(ResponseStore.sample(directory)))
        let folder = try FileManager.default.attributesOfItem(atPath: cacheFolder(directory).path)
        #expect(folder[.posixPermissions] as? Int == 0o700)
    }

    @Test(arguments: ["link", "file", "readable"]) func aForeignFolderInItIsNotUsed(kind: String)
        async throws
    {
        mkdir(path, 0o700)
        let (folder, target) = (cacheFolder(directory).path, directory.file("target").path)
        mkdir(target, 0o700)
        switch kind {
        case "link": symlink(target, folder)
        case "file": try Data("mine".utf8).write(to: URL(fileURLWithPath: folder))
        default:
            mkdir(folder, 0o755)
            chmod(folder, 0o755)
        }
        #expect(try await !works(ResponseStore.sample(directory)))
        #expect(try FileManager.default.contentsOfDirectory(atPath: target) == [])
    }

    @Test func parentDirectoriesAreCreated() async throws {
        let store = ResponseStore(
            memoryCapacity: 1 << 20,
            diskCapacity: 1 << 20,
            directory: directory.url.appendingPathComponent("a/b/c", isDirectory: true)
        )
        #expect(try await works(store))
        #expect(FileManager.default.fileExists(atPath: directory.url.path + "/a/b/c/" + DiskTier.folderName))
    }

    // MARK: - Files

    static let files = ["body", "head", "format"]

    @Test(arguments: files, ["link", "hard link", "readable", "directory", "fifo"])
    func aPlantedFileIsNotTrusted(file: String, kind: String) async throws {
        try await expectNoTrust(in: (file, kind))
    }

    @Test(.enabled(if: geteuid() == 0), arguments: files)
    func aFileOfAnotherUserIsNotTrusted(file: String) async throws {
        try await expectNoTrust(in: (file, "another user's"))
    }

    /// The right bytes: who may have written them counts. The name is given to another file of ours, or the
    /// disk is not used any more, and what was planted stays as it is.
    private func expectNoTrust(in plant: (file: String, kind: String)) async throws {
        let first = ResponseStore.sample(directory)
        let entry = try #require(try await first.put(key, sampleBytes(200_000)))
        first.waitForChanges()
        let file =
            switch plant.file {
            case "body": bodyFile(entry, directory)
            case "head": try headFile(key, directory)
            default: cacheFolder(directory).appendingPathComponent(DiskTier.formatName)
            }
        let target = directory.file("target")
        let bytes = try Data(contentsOf: file)
        try bytes.write(to: target)
        chmod(target.path, 0o600)
        if plant.kind != "readable" { unlink(file.path) }
        switch plant.kind {
        case "link": symlink(target.path, file.path)
        case "hard link": link(target.path, file.path)
        case "readable": chmod(file.path, 0o644)
        case "directory": mkdir(file.path, 0o700)
        case "fifo": mkfifo(file.path, 0o600)
        default:
            try bytes.write(to: file)
            chmod(file.path, 0o600)
            chown(file.path, 12345, 12345)
        }
        let store = ResponseStore.sample(directory)
        if plant.file == "body" {
            #expect(try await store.found(key) == [entry])
            #expect(try await store.body(entry, key) == nil)
        }
        #expect(try await store.found(key) == [])
        #expect(try Data(contentsOf: target) == bytes)
        _ = try await works(store)
        let stored = try #require(try await store.put(key, sampleBytes(20_000, 1)))
        #expect(try await store.found(key) == [stored])
        #expect(try await store.body(stored, key) == sampleBytes(20_000, 1))
        #expect(try Data(contentsOf: target) == bytes)
    }

    // MARK: - Disks

    /// What is there is found, and what is not is kept in memory. When a change cannot be written, the disk
    /// is not used any more.
    @Test(.enabled(if: MountedDisk.isPermitted)) func aReadOnlyDiskIsReadUntilSomethingChanges() async throws
    {
        let disk = try MountedDisk(capacity: 4 << 20)
        let keys = (1...2).map { CacheKey(url: "http://a/\($0)") }
        do {
            let store = disk.store()
            for key in keys { try await store.put(key, sampleBytes(1_000)) }
            store.waitForChanges()
        }
        try disk.makeReadOnly()
        let store = disk.store(memory: 1 << 20)
        #expect(try await store.found(keys[0]).count == 1)
        #expect(try await store.put(key, sampleBytes(500)) != nil)
        store.waitForChanges()
        store.invalidate(keys[0])
        store.waitForChanges()
        // It would show what is out of date.
        #expect(try await store.found(keys[0]).allSatisfy { $0.head.isInvalidated })
        #expect(try await store.found(keys[1]).isEmpty)
        let entry = try #require(try await store.put(keys[1], sampleBytes(300)))
        #expect(try await store.body(entry, keys[1]) == sampleBytes(300))
    }

    @Test(.enabled(if: MountedDisk.isPermitted)) func aFullDiskDropsEntriesAndLeavesNothing() async throws {
        let disk = try MountedDisk(capacity: 3 << 20)
        // Without memory, so that what the disk refuses is not found.
        let store = disk.store(memory: 0)
        var stored: [(key: CacheKey, entry: CacheEntry, number: Int)] = []
        var dropped = 0
        for number in 0..<40 {
            let key = CacheKey(url: "http://a/\(number)")
            if let entry = try await store.put(key, sampleBytes(150_000, UInt8(number))) {
                stored.append((key, entry, number))
            } else {
                dropped += 1
                #expect(try await store.found(key) == [])
            }
        }
        #expect(dropped > 0 && stored.count > 2)
        for one in stored {
            #expect(try await store.found(one.key) == [one.entry])
            #expect(try await store.body(one.entry, one.key) == sampleBytes(150_000, UInt8(one.number)))
        }
        store.waitForChanges()
        #expect(try disk.names().allSatisfy { CacheFileName($0)?.kind != .new })
        #expect(try disk.names().count == 2 * stored.count)
        // What cannot be changed is removed: an invalidation needs no room.
        for one in stored { store.invalidate(one.key) }
        for one in stored {
            #expect(try await store.found(one.key).allSatisfy { $0.head.isInvalidated })
            store.remove(url: one.key.url)
        }
        store.waitForChanges()
        #expect(try await store.put(key, sampleBytes(150_000)) != nil)
    }

    /// The longest file of a process is known by a signal, which never comes.
    @Test func aLimitOfFilesDropsEntriesWithoutASignal() async throws {
        let path = self.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            var limit = rlimit(rlim_cur: 1 << 20, rlim_max: 1 << 20)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            let store = ResponseStore(
                memoryCapacity: 1 << 20,
                diskCapacity: 100 << 20,
                directory: URL(fileURLWithPath: path, isDirectory: true)
            )
            let key = CacheKey(url: "http://a/1")
            let (first, second) = (
                try await store.put(key, sampleBytes(2 << 20)), try await store.put(key, sampleBytes(1000))
            )
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
            store.writing.sync {}
        }
        #expect(writer.isLost)
        writer.abandon()
    }
}
