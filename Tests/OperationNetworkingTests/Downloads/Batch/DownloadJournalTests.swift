import Dispatch
import Foundation
import Glibc
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct DownloadJournalTests {
    private static let header = JournalHeader(
        items: (0..<100).map { index in
            let file = URL(fileURLWithPath: "/a/\(index)")
            return JournalItem(DownloadItem(url: file, destination: file), in: URL(fileURLWithPath: "/b"))
        },
        options: JournalOptions(DownloadBatch.Options())
    )

    private static func failure(_ member: Int) -> JournalEntry {
        JournalEntry(member: member, failure: "no")
    }

    private static func close(_ journal: DownloadJournal, removing: Bool = false) async {
        await withCheckedContinuation { continuation in
            journal.close(removing: removing) { continuation.resume() }
        }
    }

    private static func names(_ folder: TemporaryDirectory) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
    }

    @Test func theHeaderIsOnTheDiskBeforeTheJournalHasItsName() async throws {
        let folder = try TemporaryDirectory()
        let steps = Recorder<String>()
        let journal = try DownloadJournal.make(folder.file("j"), Self.header) { change in
            switch change {
            case .create(let name, _): steps.append("create \(name)")
            case .write: steps.append("write")
            case .truncate: steps.append("truncate")
            case .synchronize: steps.append("synchronize")
            case .rename(let old, let new): steps.append("rename \(old) \(new)")
            case .remove(let name): steps.append("remove \(name)")
            case .synchronizeFolder: steps.append("synchronize the folder")
            }
        }
        #expect(
            steps.elements == [
                "create j.new", "write", "synchronize", "rename j.new j", "synchronize the folder",
            ]
        )
        try journal.append(Self.failure(0))
        #expect(steps.elements.suffix(2) == ["write", "synchronize"])
        let mode = try FileManager.default.attributesOfItem(atPath: journal.url.path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        await Self.close(journal)
    }

    @Test func eachEntryIsWrittenOnce() async throws {
        for count in [50, 200] {
            let folder = try TemporaryDirectory()
            let changes = Recorder<FileChange>()
            let journal = try DownloadJournal.make(folder.file("j"), Self.header) { changes.append($0) }
            let before = changes.elements.count
            for member in 0..<count { try journal.append(Self.failure(member % 100)) }
            #expect(changes.elements.count - before == 2 * count)
            var written = 0
            for change in changes.elements {
                if case .write(_, _, let bytes) = change { written += bytes.count }
            }
            let length = try Data(contentsOf: journal.url).count
            #expect(written == length)
            await Self.close(journal)
        }
    }

    @Test(arguments: 0..<5)
    func aJournalThatCannotBeMadeLeavesNothingBehind(step: Int) async throws {
        let folder = try TemporaryDirectory()
        let count = Locked(0)
        #expect(throws: CocoaError.self) {
            try DownloadJournal.make(folder.file("j"), Self.header) { change in
                if case .remove = change { return }
                let number = count.withLock { count in
                    count += 1
                    return count - 1
                }
                if number == step { throw SystemError(5, "test") }
            }
        }
        // When only the folder could not be made safe, the journal has its name already.
        #expect(try Self.names(folder).allSatisfy { step == 0 || step == 4 || $0 != "j.new" })
        if step < 4 { await Self.close(try DownloadJournal.make(folder.file("j"), Self.header)) }
    }

    @Test func linesOfManyThreadsAreAllThere() async throws {
        let folder = try TemporaryDirectory()
        let journal = try DownloadJournal.make(folder.file("j"), Self.header)
        DispatchQueue.concurrentPerform(iterations: 100) { index in
            if index.isMultiple(of: 2) {
                #expect(throws: Never.self) { try journal.append(Self.failure(index)) }
            } else {
                journal.note(Self.failure(index))
            }
        }
        await Self.close(journal)
        let (again, replay) = try DownloadJournal.open(folder.file("j"))
        #expect(replay.entries.keys.sorted() == Array(0..<100))
        #expect(replay.header.items == Self.header.items && replay.header.options == Self.header.options)
        await Self.close(again, removing: true)
        #expect(try Self.names(folder).isEmpty)
    }

    @Test(arguments: [true, false])
    func aLineThatCannotBeWrittenSpoilsNoOther(duringWrite: Bool) async throws {
        let folder = try TemporaryDirectory()
        let isBroken = Locked(false)
        let journal = try DownloadJournal.make(folder.file("j"), Self.header) { change in
            guard isBroken.withLock({ $0 }) else { return }
            switch change {
            case .write where duringWrite: throw SystemError(28, "test")
            case .synchronize: throw SystemError(28, "test")
            default: break
            }
        }
        try journal.append(Self.failure(0))
        isBroken.withLock { $0 = true }
        let error = #expect(throws: CocoaError.self) { try journal.append(Self.failure(1)) }
        #expect(error?.code == .fileWriteOutOfSpace)
        isBroken.withLock { $0 = false }
        try journal.append(Self.failure(2))
        await Self.close(journal)
        let (again, replay) = try DownloadJournal.open(folder.file("j"))
        #expect(replay.entries.keys.sorted() == [0, 2])
        await Self.close(again)
    }

    @Test func aLineThatWasCutOffDoesNotSpoilTheNext() async throws {
        let folder = try TemporaryDirectory()
        await Self.close(try DownloadJournal.make(folder.file("j"), Self.header))
        let bytes = try Data(contentsOf: folder.file("j"))
        let line = try JournalLine.bytes(Self.failure(3))
        for count in 0..<line.count {
            try (bytes + line[..<count]).write(to: folder.file("j"))
            let (journal, replay) = try DownloadJournal.open(folder.file("j"))
            #expect(replay.entries.isEmpty)
            try journal.append(Self.failure(4))
            await Self.close(journal)
            let (again, after) = try DownloadJournal.open(folder.file("j"))
            #expect(after.entries.keys.sorted() == [4])
            await Self.close(again)
        }
    }

    // MARK: - Other writers

    @Test func aJournalIsForOneAtATime() async throws {
        let folder = try TemporaryDirectory()
        let url = folder.file("j")
        #expect(throws: DownloadBatchError.journalMissing(url)) { try DownloadJournal.open(url) }
        let journal = try DownloadJournal.make(url, Self.header)
        #expect(throws: DownloadBatchError.journalInUse(url)) { try DownloadJournal.open(url) }
        #expect(throws: DownloadBatchError.journalExists(url)) { try DownloadJournal.make(url, Self.header) }
        await Self.close(journal)
        #expect(throws: DownloadBatchError.journalExists(url)) { try DownloadJournal.make(url, Self.header) }
        let (again, _) = try DownloadJournal.open(url)
        await Self.close(again)
    }

    @Test func leftoversOfAProcessThatDiedBeforeItsBatchBeganAreRemoved() async throws {
        let folder = try TemporaryDirectory()
        let left = try DownloadFolder(path: folder.url.path).create("j.new")
        left?.close()
        await Self.close(try DownloadJournal.make(folder.file("j"), Self.header))
        #expect(try Self.names(folder) == ["j"])
    }

    /// The name of a journal that is being made is a name that a user may give to a batch's.
    @Test(arguments: [true, false])
    func theJournalOfAnotherBatchIsNotTakenForWhatAProcessLeft(isRunning: Bool) async throws {
        let folder = try TemporaryDirectory()
        let other = try DownloadJournal.make(folder.file("j.new"), Self.header)
        try other.append(Self.failure(7))
        if !isRunning { await Self.close(other) }
        await Self.close(try DownloadJournal.make(folder.file("j"), Self.header))
        #expect(try Self.names(folder) == ["j", "j.new"])
        if isRunning { await Self.close(other) }
        let (again, replay) = try DownloadJournal.open(folder.file("j.new"))
        #expect(replay.entries.keys.sorted() == [7])
        await Self.close(again)
    }

    /// A user has moved the journal of a batch that runs, and begun another batch with the old name.
    @Test func aJournalThatHasTheNameOfOneThatIsCompleteStays() async throws {
        let folder = try TemporaryDirectory()
        let first = try DownloadJournal.make(folder.file("j"), Self.header)
        try FileManager.default.moveItem(at: folder.file("j"), to: folder.file("moved"))
        let second = try DownloadJournal.make(folder.file("j"), Self.header)
        try second.append(Self.failure(3))
        await Self.close(first, removing: true)
        #expect(try Self.names(folder) == ["j", "moved"])
        await Self.close(second)
        let (again, replay) = try DownloadJournal.open(folder.file("j"))
        #expect(replay.entries.keys.sorted() == [3])
        await Self.close(again, removing: true)
        #expect(try Self.names(folder) == ["moved"])
    }

    @Test func aForeignFileWithTheNameOfANewJournalIsLeftAlone() async throws {
        let folder = try TemporaryDirectory()
        try Data("Dear diary\n".utf8).write(to: folder.file("j.new"))
        #expect(chmod(folder.file("j.new").path, 0o600) == 0)
        #expect(mkdir(folder.file("j.1.new").path, 0o700) == 0)
        await Self.close(try DownloadJournal.make(folder.file("j"), Self.header))
        #expect(try Self.names(folder) == ["j", "j.1.new", "j.new"])
        #expect(try String(contentsOf: folder.file("j.new"), encoding: .utf8) == "Dear diary\n")
    }

    @Test func onlyAJournalThatThisUserMadeIsRead() async throws {
        let folder = try TemporaryDirectory()
        let url = folder.file("j")
        await Self.close(try DownloadJournal.make(url, Self.header))
        for mode in [0o660, 0o602] as [mode_t] {
            #expect(chmod(url.path, mode) == 0)
            #expect(throws: DownloadBatchError.journalNotTrusted(url)) { try DownloadJournal.open(url) }
        }
        #expect(chmod(url.path, 0o600) == 0)
        let link = folder.file("link")
        #expect(symlink("j", link.path) == 0)
        #expect(throws: DownloadBatchError.journalNotTrusted(link)) { try DownloadJournal.open(link) }
        if geteuid() == 0 {
            #expect(chown(url.path, 1234, 1234) == 0)
            #expect(throws: DownloadBatchError.journalNotTrusted(url)) { try DownloadJournal.open(url) }
            #expect(chown(url.path, 0, 0) == 0)
        }
        await Self.close(try DownloadJournal.open(url).journal)
        // A copy that another program made, under a umask of 077.
        let copy = folder.file("copy")
        try Data(contentsOf: url).write(to: copy)
        #expect(chmod(copy.path, 0o600) == 0)
        #expect(throws: DownloadBatchError.journalNotTrusted(copy)) { try DownloadJournal.open(copy) }
    }

    @Test func aJournalThatIsTooLongIsNotRead() async throws {
        let folder = try TemporaryDirectory()
        let url = folder.file("j")
        await Self.close(try DownloadJournal.make(url, Self.header))
        let length = DownloadJournal.maximumLength + 1
        // Nothing of it is on the disk.
        #expect(truncate(url.path, Int(length)) == 0)
        #expect(throws: DownloadBatchError.journalTooLong(url, length: length)) {
            try DownloadJournal.open(url)
        }
    }

    @Test func whatIsNotAJournalIsLeftAlone() throws {
        let folder = try TemporaryDirectory()
        let url = folder.file("j")
        try Data("Dear diary\n".utf8).write(to: url)
        #expect(chmod(url.path, 0o600) == 0)
        #expect(throws: DownloadBatchError.journalUnreadable(url)) { try DownloadJournal.open(url) }
        #expect(try String(contentsOf: url, encoding: .utf8) == "Dear diary\n")
        #expect(throws: (any Error).self) { try DownloadJournal.open(folder.url) }
    }
}
