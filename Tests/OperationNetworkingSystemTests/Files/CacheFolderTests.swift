import Foundation
import OperationNetworkingSystem
import Testing

/// The owners, modes and links of directories and files are tested with the store that uses them.
struct CacheFolderTests {
    private func withFolders(_ body: (_ parent: String, CacheFolder) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("OperationNetworking-\(UUID().uuidString)", isDirectory: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let parent = directory.path + "/a/b"
        try body(parent, try CacheFolder("ours", in: CacheFolder(path: parent)))
    }

    private func names(_ folder: CacheFolder) throws -> [String] {
        var names: [String] = []
        try folder.forEachName { names.append($0) }
        return names.sorted()
    }

    @Test func filesAreCreatedOpenedRenamedListedAndRemoved() throws {
        try withFolders { parent, folder in
            let file = try folder.create("one")
            try file.write(Array("hello".utf8).span, at: 0)
            file.beginWriteback(0..<5)
            try file.synchronize()
            try folder.rename("one", to: "two")
            try folder.synchronize()
            #expect(try names(folder) == ["two"])
            #expect(try names(folder) == ["two"])
            #expect(try FileManager.default.contentsOfDirectory(atPath: parent + "/ours") == ["two"])
            #expect(try folder.open("one") == nil && folder.usage(of: "one") == nil)
            let opened = try #require(try folder.open("two"))
            #expect(try opened.read(10, at: 1) == Data("ello".utf8))
            #expect(try opened.read(2, at: 0) == Data("he".utf8))
            #expect(opened.usage.length == 5 && folder.usage(of: "two") == opened.usage)
            try folder.remove("two")
            try folder.remove("two")
            #expect(try opened.read(10, at: 0) == Data("hello".utf8))
            #expect(try names(folder) == [])
        }
    }

    @Test func aNameThatIsTakenIsNotCreated() throws {
        try withFolders { _, folder in
            _ = try folder.create("one")
            let error = #expect(throws: SystemError.self) { _ = try folder.create("one") }
            #expect(error?.code == SystemError.exists)
        }
    }

    @Test func aUseSetsTheTimeToNow() throws {
        try withFolders { parent, folder in
            _ = try folder.create("one")
            let old = Date(timeIntervalSince1970: 1_000)
            let path = parent + "/ours/one"
            try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: path)
            let file = try #require(try folder.open("one"))
            #expect(file.usage.time == 1_000 * 1_000_000)
            file.noteUse()
            let time = try #require(folder.usage(of: "one")).time
            #expect(abs(Double(time) / 1e6 - Date().timeIntervalSince1970) < 60)
        }
    }

    @Test func onlyOneHolderHasTheFolderLocked() throws {
        try withFolders { parent, folder in
            let other = try CacheFolder("ours", in: CacheFolder(path: parent))
            // It runs all the same when the other one does not come out.
            #expect(folder.whileLocked { other.whileLocked { true } })
            let inside = Locked(0)
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                guard let folder = try? CacheFolder("ours", in: CacheFolder(path: parent)) else {
                    return inside.withLock { $0 = 99 }
                }
                for _ in 0..<50 {
                    folder.whileLocked {
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
}
