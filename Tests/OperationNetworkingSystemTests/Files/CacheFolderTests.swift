import Foundation
import OperationNetworkingSystem
import Testing

/// The owners, modes and links of directories and files are tested with the store that uses them.
struct CacheFolderTests {
    private func withFolder(_ body: (CacheFolder) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("OperationNetworking-\(UUID().uuidString)", isDirectory: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try body(try CacheFolder(path: directory.path + "/a/b"))
    }

    @Test func filesAreMadeOpenedRenamedListedAndRemoved() throws {
        try withFolder { folder in
            #expect(folder.path.hasSuffix("/a/b"))
            let file = try folder.create("one")
            try file.write(Array("hello".utf8).span, at: 0)
            #expect(try file.status.mode == 0o600)
            try folder.rename("one", to: "two")
            try folder.synchronize()
            #expect(try folder.names() == ["two"])
            #expect(try folder.names() == ["two"])
            #expect(try folder.open("one") == nil)
            let opened = try #require(try folder.open("two"))
            #expect(try opened.read(10, at: 1) == Array("ello".utf8))
            folder.remove("two")
            #expect(try opened.read(10, at: 0) == Array("hello".utf8))
            #expect(try folder.names() == [])
        }
    }

    @Test func aFileThatIsWrittenIsLocked() throws {
        try withFolder { folder in
            let file = try folder.create("one")
            let error = #expect(throws: SystemError.self) { _ = try folder.open("one", isWritten: true) }
            #expect(error?.code == SystemError.busy)
            folder.removeUnlessLocked("one", if: { true })
            #expect(try folder.names() == ["one"])
            file.close()
            folder.removeUnlessLocked("one", if: { false })
            #expect(try folder.names() == ["one"])
            folder.removeUnlessLocked("one", if: { true })
            #expect(try folder.names() == [])
            folder.removeUnlessLocked("one", if: { true })
        }
    }

    @Test func aFileIsProvidedOnce() throws {
        try withFolder { folder in
            let identity = try folder.provide("index")
            #expect(try folder.provide("index") == identity)
            #expect(try folder.open("index")?.status.size == 0)
        }
    }

    @Test func onlyAFileThatIsGoneOrAnotherHasLostItsName() throws {
        try withFolder { folder in
            let identity = try folder.provide("index")
            #expect(folder.has(identity, named: "index"))
            // ENAMETOOLONG: it says nothing of the file.
            #expect(folder.has(identity, named: String(repeating: "x", count: 300)))
            // ENOTDIR, ENOENT
            #expect(!folder.has(identity, named: "index/one"))
            #expect(!folder.has(identity, named: "none"))
            let other = try folder.provide("other")
            #expect(!folder.has(other, named: "index"))
            try folder.rename("other", to: "index")
            #expect(!folder.has(identity, named: "index") && folder.has(other, named: "index"))
        }
    }

    @Test func oneAtATimeIsInALockedFolder() throws {
        try withFolder { folder in
            let other = try CacheFolder(path: folder.path)
            // It runs all the same when the other one does not come out.
            #expect(folder.whileLocked(0) { other.whileLocked(5) { true } })
            let inside = Locked(0)
            DispatchQueue.concurrentPerform(iterations: 4) { number in
                guard let folder = try? CacheFolder(path: folder.path) else {
                    return inside.withLock { $0 = 99 }
                }
                for _ in 0..<50 {
                    folder.whileLocked(60_000) {
                        #expect(
                            inside.withLock { count in
                                count += 1
                                return count
                            } == 1
                        )
                        inside.withLock { $0 -= 1 }
                    }
                }
            }
            #expect(inside.withLock { $0 } == 0)
        }
    }

    @Test func whatAnEarlierFileHasLeftGoesWhenItIsMade() throws {
        try withFolder { folder in
            for name in ["index-log", "other"] { _ = try folder.create(name) }
            let identity = try folder.provide("index", without: ["index-log", "none"])
            #expect(try Set(folder.names()) == ["index", "other"])
            _ = try folder.create("index-log")
            #expect(try folder.provide("index", without: ["index-log"]) == identity)
            #expect(try Set(folder.names()) == ["index", "index-log", "other"])
        }
    }

    @Test func aFileIsKnownByItsNameAndItsDirectory() throws {
        try withFolder { folder in
            let identity = try folder.provide("index")
            #expect(folder.has(identity, named: "index"))
            #expect(!folder.has(identity, named: "other"))
            try folder.rename("index", to: "other")
            #expect(!folder.has(identity, named: "index"))
            _ = try folder.provide("index")
            #expect(!folder.has(identity, named: "index"))
            try folder.rename("other", to: "index")
            #expect(folder.has(identity, named: "index"))
            // The directory has another name, and then another one has its name.
            try FileManager.default.moveItem(atPath: folder.path, toPath: folder.path + "2")
            #expect(!folder.has(identity, named: "index"))
            try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: false)
            #expect(!folder.has(identity, named: "index"))
        }
    }
}
