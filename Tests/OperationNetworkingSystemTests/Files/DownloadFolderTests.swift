import Dispatch
import Foundation
import Glibc
import OperationNetworkingSystem
import Testing

/// setxattr(2), which is in no module.
@_silgen_name("setxattr")
private func setAttribute(
    _ path: UnsafePointer<CChar>,
    _ name: UnsafePointer<CChar>,
    _ value: UnsafePointer<UInt8>,
    _ length: Int,
    _ flags: CInt
) -> CInt

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

    // MARK: - Mounts

    private static let linuxRelease: String = {
        var system = utsname()
        uname(&system)
        return withUnsafeBytes(of: system.release) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }()

    /// Whether the kernel has numbers for mounts that it does not give again: since Linux 6.8.
    private static let namesMountsForGood: Bool = {
        let version = linuxRelease.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
        return version.count == 2 && (version[0], version[1]) >= (6, 8)
    }()

    /// The number that the kernel gives again is in mountinfo; the session of a checkpoint needs the other one.
    @Test func aMountIsNamedForGoodWhereTheKernelCan() throws {
        let mount = try #require(try make("a").mount)
        #expect(mount.hasPrefix("unique-") == Self.namesMountsForGood, "Linux \(Self.linuxRelease)")
        #expect(try make("b").mount == mount)
    }

    private static func run(_ command: String, _ arguments: String...) throws -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [command] + arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    /// Whether this process may mount: that takes more than to be root in a container.
    private static let mayMount: Bool = {
        guard let directory = try? TestDirectory(), (try? mount(directory.path)) == true else { return false }
        return (try? run("umount", directory.path)) == true
    }()

    private static func mount(_ path: String) throws -> Bool { try run("mount", "-t", "tmpfs", "none", path) }

    /// The kernel gives the lowest free number to the next mount.
    @Test(
        .enabled(if: Self.mayMount, "This process may not mount."),
        .enabled(if: Self.namesMountsForGood, "The kernel gives the numbers of mounts again.")
    )
    func anotherMountHasAnotherName() throws {
        try FileManager.default.createDirectory(
            atPath: directory.file("m"),
            withIntermediateDirectories: false
        )
        func mounted() throws -> String? {
            try #require(try Self.mount(directory.file("m")))
            defer { _ = try? Self.run("umount", directory.file("m")) }
            let file = try #require(try DownloadFolder(path: directory.file("m")).create("a"))
            defer { file.close() }
            return file.mount
        }
        let first = try #require(try mounted())
        #expect(try mounted() != first)
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

    @Test func aMissingFileIsNotOpened() throws {
        #expect(try folder.open("a") == nil)
        #expect(try folder.contents(of: "a", limit: 10) == .nothing)
        #expect(try folder.status(of: "a") == .nothing)
    }

    @Test func reportsWhatANameStandsFor() throws {
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

    @Test func whatIsNotAFolderIsNotOpened() throws {
        _ = try make("file")
        #expect(code { _ = try DownloadFolder(path: directory.file("file")) } == ENOTDIR)
        #expect(code { _ = try DownloadFolder(path: directory.file("none")) } == ENOENT)
    }

    @Test func spaceCanBeAllocatedAndFreedWithoutChangingTheLength() throws {
        let file = try make("a", "123")
        let before = try file.status.allocated
        try file.allocate(1 << 20, at: 3)
        #expect(try file.status.size == 3)
        #expect(try file.status.allocated >= 1 << 20)
        file.releaseUnusedBlocks()
        #expect(try file.status.size == 3)
        #expect(try file.status.allocated <= before + 4096)
        #expect(text("a") == "123")
        #expect(try folder.room.available > 0 && folder.room.available <= folder.room.capacity)
    }

    @Test func whetherAFileCanBeSoLongIsKnownWithoutChangingIt() throws {
        let file = try make("a", "123")
        #expect(file.canHave(1 << 31))
        #expect(try file.status.size == 3)
    }

    @Test func theProcesssLimitIsOneOfTheFiles() async {
        await #expect(processExitsWith: .success) {
            let directory = try TestDirectory()
            guard let file = try DownloadFolder(path: directory.path).create("a") else { exit(2) }
            var limit = rlimit(rlim_cur: 5000, rlim_max: 5000)
            guard setrlimit(__rlimit_resource_t(1), &limit) == 0 else { exit(3) }
            guard file.canHave(5000), !file.canHave(5001) else { exit(4) }
        }
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
        let file = try make("a", "mine")
        _ = try make("b", "theirs")
        #expect(code { try folder.renameExclusively("a", to: "b", of: file) } == EEXIST)
        #expect(text("b") == "theirs")
        try folder.renameExclusively("a", to: "c", of: file)
        #expect(text("c") == "mine")
        #expect(try folder.status(of: "a") == .nothing)
    }

    @Test(arguments: DownloadFolder.ExclusiveRename.allCases)
    func aFileThatTookTheOldNameKeepsIt(way: DownloadFolder.ExclusiveRename) throws {
        folder.exclusiveRenames = [way]
        let file = try make("a", "mine")
        try folder.rename("a", to: "elsewhere")
        _ = try make("a", "theirs")
        let code = code { try folder.renameExclusively("a", to: "b", of: file) }
        if way == .byLink {
            // The link leads to the file itself, and the other one only loses a name that was not its own.
            #expect(code == nil && text("b") == "mine")
        } else {
            #expect(code == SystemError.replaced)
            #expect(text("a") == "theirs")
            #expect(try folder.status(of: "b") == .nothing)
        }
    }

    /// The user neither owns nor may read the folder.
    @Test(.enabled(if: geteuid() == 0)) func aFolderThatMayNotBeReadIsUsed() async {
        await #expect(processExitsWith: .success) {
            let directory = try TestDirectory()
            guard FileManager.default.createFile(atPath: directory.file("theirs"), contents: Data("1".utf8)),
                chown(directory.file("theirs"), 1234, 1234) == 0, chmod(directory.path, 0o1733) == 0,
                seteuid(65534) == 0
            else { exit(2) }
            let folder = try DownloadFolder(path: directory.path)
            guard let file = try folder.create("a") else { exit(3) }
            try file.write([49].span, at: 0)
            try folder.synchronize()
            try folder.renameExclusively("a", to: "b", of: file)
            try folder.synchronize()
            guard try folder.open("b") != nil, try folder.room.available > 0 else { exit(4) }
            guard folder.accessOfNewFile.mode & 0o600 == 0o600 else { exit(5) }
            guard folder.mayReplace("b"), folder.mayReplace("nothing") else { exit(6) }
            guard !folder.mayReplace("theirs") else { exit(8) }
            guard seteuid(0) == 0, folder.mayReplace("theirs") else { exit(7) }
        }
    }

    /// In a folder where each may remove his own files only, as /tmp is. Root could do it all.
    @Test(.enabled(if: geteuid() == 0)) func aFileOfAnotherUserIsNeitherRenamedNorLinked() async {
        await #expect(processExitsWith: .success) {
            let directory = try TestDirectory()
            guard chmod(directory.path, 0o1777) == 0 else { exit(2) }
            let theirs = directory.file("a")
            guard FileManager.default.createFile(atPath: theirs, contents: nil), chmod(theirs, 0o666) == 0,
                seteuid(65534) == 0
            else { exit(3) }
            for ways in [DownloadFolder.ExclusiveRename.allCases, [.byLink], [.afterLooking]] {
                let folder = try DownloadFolder(path: directory.path)
                folder.exclusiveRenames = ways
                guard let file = try folder.open("a") else { exit(4) }
                do {
                    try folder.renameExclusively("a", to: "b", of: file)
                    exit(5)
                } catch let error as SystemError {
                    guard error.code != SystemError.exists else { exit(6) }
                }
                guard try folder.status(of: "b") == .nothing else { exit(7) }
                guard case .file(let status) = try folder.status(of: "a") else { exit(8) }
                guard !status.isOwn(of: 65_534) else { exit(9) }
            }
            guard seteuid(0) == 0 else { exit(10) }
        }
    }

    @Test func removingWhatIsNotThereIsNotAnError() throws {
        _ = try make("a")
        try folder.remove("a")
        try folder.remove("a")
        #expect(try folder.status(of: "a") == .nothing)
        try folder.synchronize()
    }

    @Test(arguments: [false, true])
    func replacingPutsTheWholeFileInThePlaceOfTheOld(isDurable: Bool) throws {
        _ = try make("a", "old")
        _ = try make("temporary", "left by a process that died")
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
        #expect(mode("a") == 0o600)
    }

    // MARK: - Owners

    /// By Foundation: `struct stat` belongs to another module in every build.
    private func mode(_ name: String) -> mode_t {
        let attributes = try? FileManager.default.attributesOfItem(atPath: directory.file(name))
        return (attributes?[.posixPermissions] as? NSNumber).map { mode_t($0.uint32Value) } ?? 0
    }

    @Test func onlyFilesThatNoOtherUserMayHaveMadeAreRead() throws {
        _ = try make("saved", "by a program")
        #expect(try folder.contents(of: "saved", limit: 20) == .notOurs)
        // Its process died before the mark.
        _ = try make("empty")
        #expect(try folder.contents(of: "empty", limit: 20) == .bytes([]))
        _ = try folder.replace("file", with: Array("mine".utf8), temporary: "new", isDurable: false)
        #expect(mode("file") == 0o600)
        #expect(try folder.contents(of: "file", limit: 10) == .bytes(Array("mine".utf8)))
        #expect(symlink("file", directory.file("link")) == 0)
        #expect(mkfifo(directory.file("fifo"), 0o600) == 0)
        #expect(mkdir(directory.file("directory"), 0o700) == 0)
        for name in ["link", "fifo", "directory"] {
            #expect(try folder.contents(of: name, limit: 10) == .notOurs)
        }
        for mode in [0o620, 0o602, 0o666] as [mode_t] {
            #expect(chmod(directory.file("file"), mode) == 0)
            #expect(try folder.contents(of: "file", limit: 10) == .notOurs)
        }
        #expect(chmod(directory.file("file"), 0o644) == 0)
        #expect(try folder.contents(of: "file", limit: 10) == .bytes(Array("mine".utf8)))
        #expect(link(directory.file("file"), directory.file("second")) == 0)
        #expect(try folder.contents(of: "file", limit: 10) == .notOurs)
        #expect(try folder.contents(of: "nothing", limit: 10) == .nothing)
    }

    /// fstatat(2) of a name that is removed meanwhile shows a file with 0 names. It was one of ours.
    @Test func aFileThatIsRemovedMeanwhileIsNotTakenForAnotherUsers() throws {
        let isDone = Locked(false)
        let path = directory.path
        Thread.detachNewThread {
            let folder = try? DownloadFolder(path: path)
            for _ in 0..<3000 {
                _ = try? folder?.create("a")
                try? folder?.remove("a")
            }
            isDone.withLock { $0 = true }
        }
        while !isDone.withLock({ $0 }) {
            if case .notOurs = try folder.openOwn("a") { Issue.record("It is ours") }
        }
    }

    /// Whether the file system of the tests tells when a file was made.
    private static let tellsBirth: Bool = {
        guard let directory = try? TestDirectory(), let folder = try? DownloadFolder(path: directory.path),
            let file = try? folder.create("a")
        else { return false }
        return file.lastingIdentity.birth != nil
    }()

    @Test(
        .enabled(if: Self.tellsBirth, "The file system does not tell when a file was made."),
        arguments: [(0o600, true), (0o644, true), (0o620, false), (0o666, false)] as [(mode_t, Bool)]
    )
    func aFileThatOthersMayWriteIsNotProvable(mode: mode_t, isProvable: Bool) throws {
        let file = try make("a")
        #expect(chmod(directory.file("a"), mode) == 0)
        #expect(try folder.isProvable(file) == isProvable)
    }

    @Test(.enabled(if: Self.tellsBirth, "The file system does not tell when a file was made."))
    func anotherFileHasAnotherTimeOfBirth() throws {
        let first = try make("a")
        let identity = first.lastingIdentity
        try #require(identity.birth != nil)
        try folder.rename("a", to: "b")
        try first.setModified(1_700_000_000)
        #expect(first.lastingIdentity == identity)
        #expect(try folder.open("b")?.lastingIdentity == identity)
        var other: FileTime?
        repeat {
            try folder.remove("b")
            other = try make("b").lastingIdentity.birth
        } while other == identity.birth
        #expect(other != nil)
    }

    @Test(arguments: [0o600, 0o640, 0o755, 0o666] as [mode_t])
    func aReplacedFilePassesOnItsPermissions(mode: mode_t) throws {
        _ = try make("old")
        #expect(chmod(directory.file("old"), mode) == 0)
        let new = try make("new")
        let access = try folder.access(to: new, named: "old")
        #expect(access == FileAccess(mode: mode))
        new.grant(access)
        #expect(self.mode("new") == mode)
    }

    @Test func aNewFileGetsThePermissionsOfOpen() async {
        // The mask is the whole process's.
        await #expect(processExitsWith: .success) {
            let directory = try TestDirectory()
            let folder = try DownloadFolder(path: directory.path)
            guard let file = try folder.create("a") else { exit(2) }
            for mask in [0o022, 0o002, 0o077, 0, 0o027] as [mode_t] {
                umask(mask)
                let access = try folder.access(to: file, named: "b")
                guard access == FileAccess(mode: 0o666 & ~mask) else { exit(3) }
                file.grant(access)
                guard try file.status.mode == 0o666 & ~mask else { exit(4) }
                guard chmod(directory.file("a"), 0o600) == 0 else { exit(10) }
            }
            // A default access control list of the folder, user:: rw, group:: rw, mask:: rw, other:: -, user
            // 5: rw.
            let entries: [(UInt16, UInt16, UInt32)] = [
                (1, 6, .max), (2, 6, 5), (4, 6, .max), (0x10, 6, .max), (0x20, 0, .max),
            ]
            var list: [UInt8] = [2, 0, 0, 0]
            for (tag, permissions, name) in entries {
                withUnsafeBytes(of: tag.littleEndian) { list += $0 }
                withUnsafeBytes(of: permissions.littleEndian) { list += $0 }
                withUnsafeBytes(of: name.littleEndian) { list += $0 }
            }
            // Not every file system has them.
            guard setAttribute(directory.path, "system.posix_acl_default", list, list.count, 0) == 0 else {
                exit(0)
            }
            umask(0o077)
            guard let other = try folder.create("c") else { exit(5) }
            let access = try folder.access(to: other, named: "d")
            guard access.mode == 0o660 else { exit(6) }
            // What replaces it gets its list.
            other.grant(access)
            guard let next = try folder.create("e") else { exit(7) }
            let taken = try folder.access(to: next, named: "c")
            guard !taken.list.isEmpty, taken.mode == 0o660 else { exit(8) }
            next.grant(taken)
            guard try next.status.mode == 0o660, try folder.access(to: next, named: "e").list == taken.list
            else { exit(9) }
        }
    }

    @Test func aFileThatIsTooLongIsNotRead() throws {
        _ = try folder.replace("a", with: Array("12345".utf8), temporary: "new", isDurable: false)
        #expect(
            try folder.contents(of: "a", limit: 5) == .bytes(Array("12345".utf8))
        )
        #expect(try folder.contents(of: "a", limit: 4) == .tooLong)
    }

    // MARK: - Changes

    @Test func everyChangeIsReportedInOrder() throws {
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
            code { _ = try folder.replace("b", with: [1], temporary: "c", isDurable: true) }
                == EIO
        )
        #expect(try folder.status(of: "b") == .nothing && folder.status(of: "c") == .nothing)
    }

    @Test func theKernelReportsItsBootID() {
        #expect(KernelBoot.identifier?.utf8.count == 36)
    }
}
