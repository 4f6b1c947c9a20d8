import Foundation
import Glibc
import OperationNetworkingSystem
import Testing

@Suite(.timeLimit(.minutes(1)))
struct DownloadFolderTests {
    private let directory: TestDirectory
    private let folder: DownloadFolder

    init() throws {
        directory = try TestDirectory()
        folder = try DownloadFolder(path: directory.path)
    }

    private func text(_ name: String) -> String? {
        FileManager.default.contents(atPath: directory.file(name)).map { String(decoding: $0, as: UTF8.self) }
    }

    private func make(_ name: String, _ text: String = "") throws -> PartFile {
        let file = try #require(try folder.create(name))
        try file.write(Array(text.utf8).span, at: 0)
        return file
    }

    /// The `errno` that `body` ends with.
    private func code(_ body: () throws -> Void) -> Int32? {
        do {
            try body()
            return nil
        } catch {
            return (error as? SystemError)?.code
        }
    }

    // MARK: - Files

    @Test func bytesStandWhereTheyWereWritten() throws {
        let file = try make("a", "0123456789")
        try file.write(Array("AB".utf8).span, at: 4)
        #expect(text("a") == "0123AB6789")
        #expect(try file.read(3, at: 3) == Array("3AB".utf8))
        #expect(try file.read(100, at: 8) == Array("89".utf8))
        #expect(try file.read(5, at: 10) == [])
        try file.truncate(to: 4)
        try file.synchronizeData()
        try file.synchronize()
        #expect(text("a") == "0123")
        #expect(try file.status.size == 4)
    }

    @Test func aNameThatIsTakenIsNotMadeAgain() throws {
        _ = try make("a", "theirs")
        #expect(try folder.create("a") == nil)
        #expect(text("a") == "theirs")
    }

    @Test func aFileThatIsNotThereIsNotOpened() throws {
        #expect(try folder.open("a") == nil)
        #expect(try folder.contents(of: "a", limit: 10) == nil)
        #expect(try folder.status(of: "a") == .nothing)
    }

    @Test func tellsWhatANameStandsFor() throws {
        let file = try make("file", "123")
        try FileManager.default.createDirectory(
            atPath: directory.file("directory"),
            withIntermediateDirectories: false
        )
        #expect(symlink("file", directory.file("link")) == 0)
        #expect(mkfifo(directory.file("fifo"), 0o600) == 0)
        let status = try file.status
        #expect(status.size == 3 && status.links == 1)
        #expect(try folder.status(of: "file") == .file(status))
        #expect(try folder.status(of: "directory") == .directory)
        #expect(try folder.status(of: "link") == .symbolicLink)
        #expect(try folder.status(of: "fifo") == .other)
        #expect(code { _ = try folder.open("link") } == ELOOP)
        #expect(code { _ = try folder.open("fifo") } != nil)
        #expect(code { _ = try folder.open("directory") } == EISDIR)
    }

    @Test func aFolderThatWasMovedIsStillTheSame() throws {
        let parent = try TestDirectory()
        #expect(mkdir(parent.file("old"), 0o700) == 0)
        let folder = try DownloadFolder(path: parent.file("old"))
        #expect(Glibc.rename(parent.file("old"), parent.file("new")) == 0)
        _ = try folder.create("a")
        #expect(access(parent.file("new/a"), F_OK) == 0)
    }

    @Test func whatIsNoFolderIsNotOpened() throws {
        _ = try make("file")
        #expect(code { _ = try DownloadFolder(path: directory.file("file")) } == ENOTDIR)
        #expect(code { _ = try DownloadFolder(path: directory.file("none")) } == ENOENT)
    }

    @Test func roomCanBeMadeAndTheLengthStays() throws {
        let file = try make("a", "123")
        try file.allocate(1 << 20, at: 3)
        #expect(try file.status.size == 3)
        #expect(try folder.available > 0)
    }

    @Test func theTimeOfTheLastChangeCanBeSet() throws {
        let file = try make("a")
        try file.setModified(784_111_777)
        let attributes = try FileManager.default.attributesOfItem(atPath: directory.file("a"))
        #expect((attributes[.modificationDate] as? Date)?.timeIntervalSince1970 == 784_111_777)
    }

    // MARK: - The lock

    @Test func aLockIsHeldUntilTheFileIsClosed() throws {
        let first = try make("a")
        let second = try #require(try folder.open("a"))
        #expect(try first.lock() == .taken)
        #expect(try second.lock() == .held)
        first.close()
        #expect(try second.lock() == .taken)
    }

    @Test func aLockHoldsAgainstAnotherProcess() throws {
        let file = try make("a")
        #expect(try file.lock() == .taken)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["flock", "--nonblock", "--conflict-exit-code", "7", directory.file("a"), "true"]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 7)
    }

    // MARK: - Names

    @Test(arguments: DownloadFolder.ExclusiveRename.allCases)
    func anExclusiveRenameReplacesNothing(way: DownloadFolder.ExclusiveRename) throws {
        folder.exclusiveRenames = [way]
        _ = try make("a", "mine")
        _ = try make("b", "theirs")
        #expect(code { try folder.renameExclusively("a", to: "b") } == EEXIST)
        #expect(text("b") == "theirs")
        try folder.renameExclusively("a", to: "c")
        #expect(text("c") == "mine")
        #expect(try folder.status(of: "a") == .nothing)
    }

    @Test func removingWhatIsNotThereIsNoError() throws {
        _ = try make("a")
        try folder.remove("a")
        try folder.remove("a")
        #expect(try folder.status(of: "a") == .nothing)
        try folder.synchronize()
    }

    @Test(arguments: [false, true])
    func replacingPutsTheWholeFileInThePlaceOfTheOld(isDurable: Bool) throws {
        _ = try make("a", "old")
        _ = try make("temporary", "left by somebody who died")
        let identity = try folder.replace(
            "a",
            with: Array("new".utf8),
            temporary: "temporary",
            isDurable: isDurable
        )
        #expect(text("a") == "new")
        #expect(try folder.status(of: "temporary") == .nothing)
        guard case .file(let status) = try folder.status(of: "a") else {
            Issue.record("There is no file")
            return
        }
        #expect(status.identity == identity)
        var mode = stat()
        #expect(stat(directory.file("a"), &mode) == 0 && mode.st_mode & 0o777 == 0o600)
    }

    @Test func aFileThatIsTooLongIsNotRead() throws {
        _ = try make("a", "12345")
        #expect(try folder.contents(of: "a", limit: 5) == Array("12345".utf8))
        #expect(try folder.contents(of: "a", limit: 4) == nil)
    }

    // MARK: - Changes

    @Test func everyChangeIsToldInOrder() throws {
        var changes: [FileChange] = []
        let folder = try DownloadFolder(path: directory.path) { changes.append($0) }
        let file = try #require(try folder.create("a"))
        let inode = try file.status.identity.inode
        try file.write([1, 2].span, at: 5)
        try file.truncate(to: 6)
        try file.synchronizeData()
        try folder.rename("a", to: "b")
        try folder.synchronize()
        try folder.remove("b")
        #expect(
            changes == [
                .create("a", file: inode), .write(file: inode, offset: 5, bytes: [1, 2]),
                .truncate(file: inode, length: 6), .synchronize(file: inode), .rename("a", to: "b"),
                .synchronizeFolder, .remove("b"),
            ]
        )
    }

    @Test func aChangeThatTheWatcherRefusesIsNotMade() throws {
        let folder = try DownloadFolder(path: directory.path) { change in
            if case .write = change { throw SystemError(EIO, "write") }
        }
        let file = try #require(try folder.create("a"))
        #expect(code { try file.write([1].span, at: 0) } == EIO)
        #expect(text("a") == "")
        #expect(
            code { _ = try folder.replace("b", with: [1], temporary: "c", isDurable: true) } == EIO
        )
        #expect(try folder.status(of: "b") == .nothing && folder.status(of: "c") == .nothing)
    }

    @Test func theKernelTellsItsRun() {
        #expect(KernelBoot.identifier?.utf8.count == 36)
    }
}
