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
            #expect(try opened.data(10, at: 1) == Data("ello".utf8))
            folder.remove("two")
            #expect(try opened.data(10, at: 0) == Data("hello".utf8))
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
}
