import Foundation
import FoundationNetworking
import Glibc
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct PartialDownloadFaultTests {
    private let directory: TemporaryDirectory
    private let machine = Machine()

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func open(_ url: URL? = nil, replacesFile: Bool = false) throws -> PartialDownload {
        try PartialDownload(
            .sample,
            to: url ?? directory.file("a"),
            replacesFile: replacesFile,
            in: machine.environment
        )
    }

    private func begun(_ url: URL? = nil, replacesFile: Bool = false, total: Int64? = 10) throws
        -> PartialDownload
    {
        let download = try open(url, replacesFile: replacesFile)
        try download.begin(.start(nil), total: total, origin: Sample.origin())
        return download
    }

    private func put(_ text: String, _ name: String) throws {
        try Data(text.utf8).write(to: directory.file(name))
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOf: directory.file(name), encoding: .utf8)
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.url.path).sorted()
    }

    /// The code of the `CocoaError` that `body` ends with.
    private func code(_ body: () throws -> Void) -> CocoaError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? CocoaError)?.code
        }
    }

    // MARK: - The destination

    @Test(arguments: [
        "http://example.com/a", "file:///", "file:///tmp/..", "file:///tmp/.", "file:///tmp/none/",
    ])
    func aURLThatNamesNoFileIsRefused(text: String) throws {
        let url = try #require(URL(string: text))
        #expect(throws: DownloadError.invalidDestination(url)) { try open(url) }
    }

    @Test func aFileThatExistsIsNotReplacedUnlessAsked() throws {
        try put("theirs", "a")
        #expect(throws: DownloadError.destinationExists(directory.file("a"))) { try open() }
        let download = try begun(replacesFile: true, total: 2)
        try download.write("01")
        #expect(try text("a") == "theirs")
        try download.finish(modified: nil)
        #expect(try text("a") == "01")
        #expect(try names() == ["a"])
    }

    @Test(arguments: [true, false])
    func aDirectoryIsRefused(replacesFile: Bool) throws {
        let url = directory.file("a")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        #expect(throws: DownloadError.destinationIsDirectory(url)) { try open(replacesFile: replacesFile) }
        let sameURL = URL(fileURLWithPath: url.path, isDirectory: true)
        #expect(throws: DownloadError.destinationIsDirectory(sameURL)) { try open(sameURL) }
    }

    @Test(arguments: ["file", "nothing", "."])
    func aSymbolicLinkIsRefusedWhereverItLeads(target: String) throws {
        try put("theirs", "file")
        let url = directory.file("a")
        #expect(symlink(target, url.path) == 0)
        #expect(throws: DownloadError.destinationIsNotFile(url)) { try open(replacesFile: true) }
        #expect(throws: DownloadError.destinationIsNotFile(url)) { try open() }
    }

    @Test func aFIFOIsRefused() throws {
        let url = directory.file("a")
        #expect(mkfifo(url.path, 0o600) == 0)
        #expect(throws: DownloadError.destinationIsNotFile(url)) { try open(replacesFile: true) }
    }

    @Test func aFolderThatIsMissingIsRefused() throws {
        let url = directory.url.appendingPathComponent("none/a")
        #expect(code { _ = try open(url) } == .fileNoSuchFile)
    }

    @Test func aNameThatIsTooLongIsRefused() throws {
        #expect(
            code { _ = try open(directory.file(String(repeating: "a", count: 256))) }
                == .fileWriteInvalidFileName
        )
        let longest = directory.file(String(repeating: "a", count: 255))
        let download = try begun(longest, total: 1)
        try download.write("0")
        try download.finish(modified: nil)
        #expect(FileManager.default.fileExists(atPath: longest.path))
    }

    @Test(arguments: [true, false])
    func whatGetsTheNameMeanwhileIsLeftAsItIs(isDirectory: Bool) throws {
        let url = directory.file("a")
        let download = try begun(replacesFile: isDirectory, total: 2)
        try download.write("01")
        let error: DownloadError
        if isDirectory {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
            error = .destinationIsDirectory(url)
        } else {
            try put("theirs", "a")
            error = .destinationExists(url)
        }
        #expect(throws: error) { try download.finish(modified: nil) }
        try download.flush()
        #expect(try text("a.part") == "01")
        try FileManager.default.removeItem(at: url)
        try download.finish(modified: nil)
        #expect(try text("a") == "01")
        #expect(try names() == ["a"])
    }

    // MARK: - Others

    @Test func onlyOneCanWriteAFile() throws {
        let download = try begun()
        #expect(throws: DownloadError.inUse(directory.file("a"))) { try open() }
        try download.write("01234")
        try download.flush()
        download.close()
        #expect(try open().recovered?.offset == 5)
    }

    @Test(arguments: [true, false])
    func anotherProcessThatHasTheFileIsLeftAlone(isOurs: Bool) throws {
        _ = try DownloadFolder(path: directory.url.path).create("a.part")
        #expect(chmod(directory.file("a.part").path, isOurs ? 0o600 : 0o644) == 0)
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["flock", directory.file("a.part").path, "sh", "-c", "echo ready; cat"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        #expect(output.fileHandleForReading.availableData == Data("ready\n".utf8))
        if isOurs {
            #expect(throws: DownloadError.inUse(directory.file("a"))) { try open() }
        } else {
            // Any user may hold a lock on what he may read.
            #expect(try open().partURL.lastPathComponent == "a.1.part")
        }
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        #expect(try open().partURL.lastPathComponent == (isOurs ? "a.part" : "a.1.part"))
    }

    @Test("B12", arguments: ["removed", "replaced", "cut", "lengthened"])
    func aPartChangedByOthersIsNotAccepted(how: String) throws {
        let download = try begun()
        try download.write("0123456789")
        let part = directory.file("a.part")
        switch how {
        case "removed": try FileManager.default.removeItem(at: part)
        case "replaced":
            try FileManager.default.removeItem(at: part)
            try put("9876543210", "a.part")
        case "cut": #expect(truncate(part.path, 5) == 0)
        default: #expect(truncate(part.path, 15) == 0)
        }
        #expect(throws: DownloadError.partialFileReplaced(part)) { try download.flush() }
        #expect(throws: DownloadError.partialFileReplaced(part)) { try download.finish(modified: nil) }
        #expect(!FileManager.default.fileExists(atPath: directory.file("a").path))
    }

    /// The bytes of another program behind those that are committed are not taken for the server's by the
    /// next process.
    @Test("B12", arguments: [true, false], [9, 10, 5000])
    func whatAnotherProgramWroteIsNotContinued(isCommitted: Bool, length: Int) throws {
        let download = try begun()
        try download.write("0123")
        if isCommitted { try download.flush() }
        try download.begin(.end, total: 10, origin: Sample.origin())
        try download.write("4567")
        let part = directory.file("a.part")
        #expect(truncate(part.path, length) == 0)
        #expect(throws: DownloadError.partialFileReplaced(part)) { try download.write("8") }
        #expect(throws: DownloadError.partialFileReplaced(part)) { try download.flush() }
        download.close()

        let next = try open()
        #expect(next.recovered?.offset == (isCommitted ? 4 : nil))
        try next.begin(isCommitted ? .end : .start(nil), total: 10, origin: Sample.origin())
        try next.write(isCommitted ? "456789" : "0123456789")
        try next.finish(modified: nil)
        #expect(try text("a") == "0123456789")
    }

    /// Between two pieces: what came later would hide it.
    @Test("B12", arguments: [5, 15])
    func aPartTruncatedOrExtendedByOthersIsNoLongerWritten(length: Int) throws {
        let download = try begun()
        try download.write("01234567")
        let part = directory.file("a.part")
        #expect(truncate(part.path, length) == 0)
        #expect(throws: DownloadError.partialFileReplaced(part)) { try download.write("89") }
        #expect(throws: DownloadError.self) { try download.finish(modified: nil) }
        #expect(!FileManager.default.fileExists(atPath: directory.file("a").path))
    }

    /// While the operation waits, or is paused: a part that is lengthened again would have zeros.
    @Test("B12", arguments: [0, 5])
    func aPartThatIsCutBetweenTwoAnswersIsNotFilledUp(length: Int) throws {
        let download = try begun()
        try download.write("01234567")
        try download.flush()
        let part = directory.file("a.part")
        #expect(truncate(part.path, length) == 0)
        #expect(throws: DownloadError.partialFileReplaced(part)) {
            try download.begin(.end, total: 10, origin: Sample.origin())
        }
        #expect(throws: DownloadError.self) { try download.finish(modified: nil) }
        #expect(try Data(contentsOf: part).count == length)
    }

    /// While the operation waits, or is paused: what is behind would be cut away in silence.
    @Test("B12", arguments: [0, 5, 15])
    func aPartOfAnotherLengthBetweenTwoAnswersIsAnError(length: Int) throws {
        let download = try begun()
        try download.write("01234567")
        try download.flush()
        #expect(try !download.isTouched())
        let part = directory.file("a.part")
        #expect(truncate(part.path, length) == 0)
        #expect(throws: DownloadError.partialFileReplaced(part)) { try download.isTouched() }
        // The end of an attempt that got no body is no reason to forget it.
        try download.flush()
        #expect(throws: DownloadError.partialFileReplaced(part)) { try download.isTouched() }
        #expect(try Data(contentsOf: part).count == length)
    }

    /// While the operation waits, or is paused.
    @Test("B12") func aPartWhoseBytesWereChangedBetweenTwoAnswersIsAnError() throws {
        let download = try begun()
        try download.write("01234567")
        try download.flush()
        #expect(try !download.isTouched())
        let part = directory.file("a.part")
        let handle = try FileHandle(forUpdating: part)
        try handle.write(contentsOf: Data("X".utf8))
        try handle.close()
        // As old as before: a time that a program cannot set shows it.
        try FileManager.default.setAttributes([.modificationDate: Date.distantPast], ofItemAtPath: part.path)
        #expect(throws: DownloadError.partialFileReplaced(part)) { try download.isTouched() }
        // The end of an attempt that got no body is no reason to forget it.
        try download.flush()
        #expect(throws: DownloadError.partialFileReplaced(part)) { try download.isTouched() }
        // The bytes of another body are others.
        try download.begin(.start(nil), total: 2, origin: Sample.origin())
        #expect(try !download.isTouched())
    }

    /// Permissions, times: a backup, a user.
    @Test("P6") func aPartOfWhichOnlyTheTimesWereChangedIsContinued() throws {
        let download = try begun()
        try download.write("01234567")
        try download.flush()
        let part = directory.file("a.part")
        try FileManager.default.setAttributes([.modificationDate: Date.distantPast], ofItemAtPath: part.path)
        #expect(try download.isTouched())
        try download.begin(.end, total: 10, origin: Sample.origin())
        #expect(try !download.isTouched())
        try download.write("89")
        try download.finish(modified: nil)
        #expect(try text("a") == "0123456789")
    }

    /// Another program has appended something after the transfer had stopped, in the same session.
    @Test("P4") func bytesAfterAPausedPartAreCutOff() throws {
        let download = try begun()
        try download.write("01234")
        try download.flush()
        download.close()
        try put("01234XX", "a.part")
        let second = try open()
        #expect(second.count == 5)
        try second.begin(.end, total: 10, origin: Sample.origin())
        try second.write("56")
        // It is not at rest any more: what was written counts without a checkpoint.
        second.close()
        #expect(try open().count == 7)
    }

    /// `log.1.part` can be the second name of `log` as well as the first of `log.1`.
    @Test(arguments: [["log.1", "log"], ["log", "log.1"]])
    func undecidedNamesDelayNoOtherDownload(names: [String]) throws {
        let downloads = try names.map { try open(directory.file($0)) }
        #expect(downloads.map(\.partURL.lastPathComponent) == names.map { $0 + ".part" })
        for download in downloads {
            try download.begin(.start(nil), total: 2, origin: Sample.origin())
            try download.write("01")
            try download.finish(modified: nil)
        }
        #expect(try self.names() == ["log", "log.1"])
    }

    /// From its name on the file is complete, whatever becomes of the checkpoint.
    @Test func failingToCleanUpAfterACompleteFileIsNotAnError() throws {
        let download = try begun(total: 2)
        try download.write("01")
        try download.flush()
        machine.fault.value = { change in
            guard case .remove("a.part.resume") = change else { return nil }
            return SystemError(EROFS, "remove")
        }
        try download.finish(modified: nil)
        #expect(try text("a") == "01")
        machine.fault.value = { _ in nil }
        let next = try begun(replacesFile: true, total: 1)
        try next.write("2")
        try next.finish(modified: nil)
        #expect(try text("a") == "2")
        #expect(try names() == ["a"])
    }

    @Test func anErrorReportsThatEveryNameIsTaken() throws {
        let name = PartialName(of: "a")
        for number in 0..<PartialName.candidateCount {
            #expect(mkfifo(directory.file(name.candidate(number).part).path, 0o600) == 0)
        }
        #expect(throws: DownloadError.noFreeName(directory.file("a"))) { try open() }
    }

    @Test func partsThatAreNotFilesAreSkipped() throws {
        try FileManager.default.createDirectory(
            at: directory.file("a.part"),
            withIntermediateDirectories: false
        )
        #expect(symlink("nothing", directory.file("a.1.part").path) == 0)
        #expect(mkfifo(directory.file("a.2.part").path, 0o600) == 0)
        try put("", "x")
        try FileManager.default.linkItem(at: directory.file("x"), to: directory.file("a.3.part"))
        #expect(try open().partURL.lastPathComponent == "a.4.part")
    }

    // MARK: - The disk

    @Test(.enabled(if: SmallDisk.isPermitted)) func aFileThatIsTooLargeForTheDiskIsNotBegun() throws {
        let disk = try SmallDisk()
        let url = disk.file("a")
        let download = try open(url)
        try Data(count: 30_000).write(to: disk.file("other"))
        do {
            try download.begin(.start(nil), total: 60_000, origin: Sample.origin())
            Issue.record("There was room")
        } catch DownloadError.notEnoughSpace(url, let needed, let available) {
            #expect(needed == 60_000)
            #expect(available <= SmallDisk.capacity - 30_000)
        }
        #expect(throws: DownloadError.tooLarge(url, length: 1 << 20)) {
            try download.begin(.start(nil), total: 1 << 20, origin: Sample.origin())
        }
        download.close()
        #expect(!FileManager.default.fileExists(atPath: disk.file("a.part").path))
    }

    @Test func aLengthThatNoFileCanHaveIsAnErrorOfItsOwn() throws {
        let download = try open()
        #expect(throws: DownloadError.tooLarge(directory.file("a"), length: .max)) {
            try download.begin(.start(nil), total: .max, origin: Sample.origin())
        }
    }

    /// The ways in which each of them lets go of a download of which a hundred bytes came.
    enum End: CaseIterable, Sendable {
        case settled, closed, failed, startedOver
    }

    @Test(arguments: End.allCases)
    func aFalseLengthAllocatesLittleAndFreesIt(end: End) throws {
        // As much as there is room for, but not more than this.
        let available = try DownloadFolder(path: directory.url.path).room.available
        let download = try begun(total: min(available / 2, 5 << 30))
        try download.write([UInt8](repeating: 1, count: 100).span)
        let folder = try DownloadFolder(path: directory.url.path)
        func allocated() throws -> Int64 {
            guard case .file(let status) = try folder.status(of: "a.part") else { return -1 }
            #expect(status.size == 100)
            return status.allocated
        }
        #expect(try allocated() <= AllocationPlan.step + 65_536)
        switch end {
        case .settled: try download.flush()
        case .closed: download.close()
        case .failed:
            machine.fault.value = { _ in SystemError(EIO, "no disk") }
            #expect(throws: (any Error).self) { try download.flush() }
        case .startedOver:
            try download.begin(.end, total: 101, origin: Sample.origin())
            try download.flush()
        }
        #expect(try allocated() <= 65_536)
    }

    @Test func spaceAllocatedByADeadProcessIsFreed() throws {
        let file = try #require(try DownloadFolder(path: directory.url.path).create("a.part"))
        try file.allocate(1 << 20, at: 0)
        #expect(try file.status.allocated >= 1 << 20)
        let other = try #require(try DownloadFolder(path: directory.url.path).open("a.part"))
        file.close()
        let download = try begun(total: nil)
        try download.write("1")
        try download.flush()
        #expect(try other.status.allocated <= 65_536)
    }

    @Test(.enabled(if: SmallDisk.isPermitted)) func allocatedSpaceCountsAsFree() throws {
        let disk = try SmallDisk()
        let total = Int64(SmallDisk.capacity * 3 / 4)
        let download = try begun(disk.file("a"), total: total)
        try download.write([UInt8](repeating: 1, count: 1000).span)
        try download.flush()
        try download.begin(.end, total: total, origin: Sample.origin())
        try download.begin(.start(nil), total: total, origin: Sample.origin())
        #expect(download.count == 0)
    }

    /// A hole has as few blocks as bytes that are compressed, or that are not on the disk yet.
    @Test(.enabled(if: SmallDisk.isPermitted)) func bytesThatAreThereNeedNoRoomHoweverFewTheirBlocks() throws
    {
        let disk = try SmallDisk()
        let first = try begun(disk.file("a"), total: 40_000)
        try first.write("0123456789")
        first.close()
        #expect(truncate(disk.file("a.part").path, 39_990) == 0)
        try Data(count: 30_000).write(to: disk.file("other"))
        let second = try open(disk.file("a"))
        #expect(second.count == 39_990)
        try second.begin(.end, total: 40_000, origin: Sample.origin())
        try second.write("0123456789")
        #expect(second.count == 40_000)
    }

    @Test(.enabled(if: SmallDisk.isPermitted)) func aDiskThatFillsUpKeepsWhatCame() throws {
        let disk = try SmallDisk()
        let download = try begun(disk.file("a"), total: nil)
        let piece = (0..<10_000).map { UInt8(truncatingIfNeeded: $0) }
        try download.write(piece.span)
        try download.flush()
        let failed = code { for _ in 0..<10 { try download.write(piece.span) } }
        #expect(failed == .fileWriteOutOfSpace)
        #expect(code { try download.write(piece.span) } == .fileWriteOutOfSpace)
        let count = download.count
        #expect(count >= 20_000)
        // There may be no room for a checkpoint either.
        try? download.flush()
        download.close()
        let again = try open(disk.file("a"))
        #expect(again.recovered?.offset == count)
        let expected = (count - 100..<count).map { UInt8(truncatingIfNeeded: $0 % 10_000) }
        #expect(try again.read(100, at: count - 100) == expected)
    }

    @Test(.enabled(if: SmallDisk.isPermitted)) func aDiskThatIsReadOnlyIsRefused() throws {
        let disk = try SmallDisk(isReadOnly: true)
        #expect(code { _ = try open(disk.file("a")) } == .fileWriteVolumeReadOnly)
    }

    @Test func aFailedSynchronizationGivesUpWhatIsNotCommitted() throws {
        let download = try begun()
        try download.write("0123")
        try download.flush()
        try download.write("4567")
        machine.fault.value = { change in
            if case .synchronize = change { SystemError(EIO, "fdatasync") } else { nil }
        }
        #expect(code { try download.flush() } == .fileWriteUnknown)
        #expect(download.count == 4 && download.committed == 4)
        #expect(try text("a.part") == "0123")
        machine.fault.value = { _ in nil }
        try download.begin(.end, total: nil, origin: Sample.origin())
        try download.write("456789")
        try download.finish(modified: nil)
        #expect(try text("a") == "0123456789")
    }

    /// Bytes that are joined by comparing are known to be on the disk, whatever could not be saved before.
    @Test("S12") func thatBytesAreJoinedByComparingIsSavedByTheNextBodyIfItCouldNotBe() throws {
        let download = try begun()
        try download.write("01234")
        try download.flush()
        func begin() throws {
            try download.begin(.again(from: 0), total: 10, origin: Sample.origin()) {
                $0.isJoinedByOverlap = true
            }
        }
        func isSaved() throws -> Bool? {
            let folder = try DownloadFolder(path: directory.url.path)
            return try folder.checkpoint("a.part.resume").checkpoint?.isJoinedByOverlap
        }
        machine.fault.value = { change in
            if case .rename = change { SystemError(ENOSPC, "rename") } else { nil }
        }
        #expect(code { try begin() } == .fileWriteOutOfSpace)
        #expect(try isSaved() == nil)
        machine.fault.value = { _ in nil }
        try begin()
        #expect(try isSaved() == true)
        try download.write("0123456789")
        try download.finish(modified: nil)
        #expect(try text("a") == "0123456789")
    }

    @Test func afterAnErrorNothingIsTakenUntilTheNextBody() throws {
        let download = try begun()
        try download.write("0123")
        machine.fault.value = { change in
            if case .write = change { SystemError(EIO, "pwrite") } else { nil }
        }
        #expect(code { try download.write("45") } == .fileWriteUnknown)
        machine.fault.value = { _ in nil }
        #expect(code { try download.write("67") } == .fileWriteUnknown)
        #expect(try text("a.part") == "0123")
        try download.begin(.end, total: nil, origin: Sample.origin())
        try download.write("456789")
        try download.finish(modified: nil)
        #expect(try text("a") == "0123456789")
    }

    @Test func aCheckpointThatCannotBeWrittenLeavesTheOldOne() throws {
        let download = try begun()
        try download.write("0123")
        try download.flush()
        try download.write("4567")
        machine.fault.value = { change in
            if case .rename = change { SystemError(EIO, "rename") } else { nil }
        }
        #expect(code { try download.flush() } == .fileWriteUnknown)
        #expect(download.committed == 4 && download.count == 8)
        machine.fault.value = { _ in nil }
        download.close()
        #expect(try names() == ["a.part", "a.part.resume"])
        #expect(try open().recovered?.offset == 8)
    }

    @Test func everyErrorIsASentenceThatNamesTheFile() {
        let url = URL(fileURLWithPath: "/folder/name")
        let errors: [DownloadError] = [
            .noDestination, .invalidDestination(url), .reservedName(url), .destinationExists(url),
            .destinationIsDirectory(url),
            .destinationIsNotFile(url), .destinationOfOtherUser(url), .inUse(url), .noFreeName(url),
            .notEnoughSpace(url, needed: 1, available: 0), .tooLarge(url, length: 2),
            .partialFileReplaced(url),
            .incomplete(url, received: 1, expected: 2),
        ]
        for error in errors {
            #expect(error.description.hasSuffix("."))
            #expect(error.localizedDescription == error.description)
            #expect(error == .noDestination || error.description.contains("/folder/name"))
        }
        #expect(Set(errors.map(\.description)).count == errors.count)
    }

    // MARK: - Two parts

    /// Whatever is there: no part with bytes goes before a server has answered.
    @Test func nothingIsRemovedBeforeTheServerResponds() throws {
        let fields: [HeaderFields] = [["ETag": "\"a\""], ["ETag": "\"b\""], [:]]
        for (older, newer) in fields.flatMap({ one in fields.map { (one, $0) } }) {
            for others in [0, 1, 2] {
                let directory = try TemporaryDirectory()
                let target = directory.file("a")
                let mine = URLRequest.sample
                let other = URLRequest(url: try #require(URL(string: "http://h.example/other")))
                for (number, fields) in [older, newer].enumerated() {
                    let request = number < others ? other : mine
                    let pair = try PartPair(request, to: target, replacesFile: false)
                    let part = number == 0 || others == 1 ? pair.current : try pair.makeNext()
                    try part.begin(
                        .start(nil),
                        total: 20,
                        origin: .init(url: "http://h/a", fields: fields, isHTTP10: false)
                    ) {
                        $0.name = "a"
                    }
                    try part.write("0123456789")
                    try part.flush()
                    part.close()
                    pair.close()
                }
                let names = ["a.1.part", "a.part"]
                func sizes() -> [Int?] { names.map { (try? Data(contentsOf: directory.file($0)))?.count } }
                try #require(sizes() == [10, 10])
                let found = try PartPair(mine, to: target, replacesFile: false)
                try found.current.flush()
                found.close()
                #expect(sizes() == [10, 10], "\(older), \(newer), \(others)")
            }
        }
    }

    /// The process dies before each change of the disk, from the beginning of another version to the end.
    @Test func aProcessThatDiesAtAnyStepLosesNothing() throws {
        var step = 0
        var isOver = false
        while !isOver {
            let directory = try TemporaryDirectory()
            let target = directory.file("a")
            let machine = Machine()
            var old: PartPair? = try PartPair(
                .sample,
                to: target,
                replacesFile: false,
                in: machine.environment
            )
            try old?.current.begin(.start(nil), total: 20, origin: Sample.origin()) { $0.name = "a" }
            try old?.current.write("0123456789")
            try old?.current.flush()
            old?.close()
            old = nil

            var count = 0
            machine.fault.value = { _ in
                count += 1
                return count > step ? SystemError(EIO, "dead") : nil
            }
            var dying: PartPair? = try? PartPair(
                .sample,
                to: target,
                replacesFile: false,
                in: machine.environment
            )
            do {
                let next = try #require(try dying?.makeNext())
                try next.begin(.start(nil), total: 5, origin: Sample.origin()) { $0.name = "a" }
                dying?.advance(to: next)
                try next.write("abcde")
                try next.flush()
                try next.finish(modified: nil, afterNaming: { dying?.dropOthers() })
                isOver = count <= step
            } catch is SystemError, is CocoaError {
            }
            // Descriptors go with the process, and nothing is tidied up.
            dying?.close()
            dying = nil
            machine.fault.value = { _ in nil }

            if FileManager.default.fileExists(atPath: target.path) {
                #expect(try String(contentsOf: target, encoding: .utf8) == "abcde", "\(step)")
                #expect(throws: DownloadError.destinationExists(target)) {
                    try PartPair(.sample, to: target, replacesFile: false, in: machine.environment)
                }
                let left = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
                #expect(left == ["a"], "\(step)")
            } else {
                let found = try PartPair(.sample, to: target, replacesFile: false, in: machine.environment)
                let counts = [found.current.count, found.kept?.count ?? 0]
                #expect(counts.contains(10), "\(step): \(counts)")
                found.close()
            }
            step += 1
            try #require(step < 100)
        }
        #expect(step > 10)
    }
}
