import Dispatch
import Foundation
import FoundationNetworking
import Glibc
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Partial files and checkpoints that another user, or a server by way of an earlier download, put beside the destination.
@Suite(.timeLimit(.minutes(1)))
struct DownloadOwnerTests {
    private static let body = DownloadScene.body
    private static let hostile = Data(body.data.map { ~$0 })

    /// The planted files, and those of them that have to be the same afterwards.
    enum Plant: String, CaseIterable, Sendable {
        /// To see that nothing but the owner and the mode is wrong with the others.
        case ours
        /// All is right but the file that the checkpoint names: what a server, an archive or a backup can bring.
        case otherInode, otherBirth, noBirth
        /// Another user gave a server inode and time of birth, and a program saved both files from that server.
        case unmarked
        case readable
        case anotherUser, anotherUserReadable, anotherUserCheckpoint
        /// An earlier run saved both from a hostile host.
        case downloaded, downloadedUnderUmask002
        case groupMayWrite, othersMayWrite
        case hardLink, hardLinkOfCheckpoint, symbolicLink, symbolicLinkOfCheckpoint
        case fifo, fifoOfCheckpoint, directory, directoryOfTemporary

        var isBelieved: Bool { self == .ours || self == .readable }
        /// Only root can give files to others.
        var isPermitted: Bool { !rawValue.hasPrefix("anotherUser") || geteuid() == 0 }
    }

    /// Leaves the first bytes of another body, with a checkpoint that says that they are those of the file.
    private func plant(_ plant: Plant, _ count: Int, in scene: DownloadScene) throws {
        let (part, checkpoint) = (scene.part.path, scene.checkpoint.path)
        guard FileManager.default.createFile(atPath: part, contents: Self.hostile.prefix(count)),
            chmod(part, 0o600) == 0
        else { throw CocoaError(.fileWriteUnknown) }
        let folder = try DownloadFolder(path: scene.folder.url.path)
        let file = try #require(try folder.open("file.bin.part"))
        var identity = file.lastingIdentity
        let birth = try #require(identity.birth)
        switch plant {
        case .otherInode: identity = LastingFileIdentity(inode: identity.inode + 1, birth: birth)
        // No server knows when the file was made.
        case .otherBirth, .downloaded, .downloadedUnderUmask002:
            let other = FileTime(seconds: birth.seconds, nanoseconds: birth.nanoseconds ^ 1)
            identity = LastingFileIdentity(inode: identity.inode, birth: other)
        case .noBirth: identity = LastingFileIdentity(inode: identity.inode, birth: nil)
        default: break
        }
        var text = try DownloadCheckpoint(
            DownloadRequest(URLRequest(url: scene.server.url)),
            origin: Sample.origin(),
            total: Int64(Self.body.length),
            part: identity,
            session: DownloadEnvironment().session(file)
        )
        text.name = "file.bin"
        if count > 0 {
            let length = min(count, DownloadCheckpoint.Block.maximumLength)
            let digest = try Array(Self.hostile.prefix(count).suffix(length)).span.sha256Text()
            text.commit(
                ByteRanges(upTo: Int64(count)),
                DownloadCheckpoint.Block(end: Int64(count), length: length, digest: digest)
            )
        }
        switch plant {
        case .unmarked, .downloaded, .downloadedUnderUmask002:
            try Data(try text.fileBytes()).write(to: scene.checkpoint)
            #expect(chmod(checkpoint, 0o600) == 0)
        default:
            let names = (scene.checkpoint.lastPathComponent, scene.checkpoint.lastPathComponent + ".new")
            let bytes = try text.fileBytes()
            _ = try folder.replace(names.0, with: bytes, temporary: names.1, isDurable: false)
        }
        let away = scene.folder.url.appendingPathComponent("away").path
        switch plant {
        case .ours, .otherInode, .otherBirth, .noBirth, .unmarked: break
        case .readable: #expect(chmod(part, 0o644) == 0)
        case .anotherUser: #expect(chown(part, 1234, 1234) == 0 && chown(checkpoint, 1234, 1234) == 0)
        case .anotherUserReadable:
            #expect(chown(part, 1234, 1234) == 0 && chown(checkpoint, 1234, 1234) == 0)
            #expect(chmod(part, 0o666) == 0 && chmod(checkpoint, 0o666) == 0)
        case .anotherUserCheckpoint: #expect(chown(checkpoint, 1234, 1234) == 0)
        case .downloaded: #expect(chmod(part, 0o644) == 0 && chmod(checkpoint, 0o644) == 0)
        case .downloadedUnderUmask002: #expect(chmod(part, 0o664) == 0 && chmod(checkpoint, 0o664) == 0)
        case .groupMayWrite: #expect(chmod(part, 0o620) == 0)
        case .othersMayWrite: #expect(chmod(part, 0o602) == 0)
        case .hardLink: #expect(link(part, away) == 0)
        case .hardLinkOfCheckpoint: #expect(link(checkpoint, away) == 0)
        case .symbolicLink: #expect(rename(part, away) == 0 && symlink("away", part) == 0)
        case .symbolicLinkOfCheckpoint:
            #expect(rename(checkpoint, away) == 0 && symlink("away", checkpoint) == 0)
        case .fifo: #expect(unlink(part) == 0 && mkfifo(part, 0o600) == 0)
        case .fifoOfCheckpoint: #expect(unlink(checkpoint) == 0 && mkfifo(checkpoint, 0o600) == 0)
        case .directory: #expect(unlink(part) == 0 && mkdir(part, 0o700) == 0)
        case .directoryOfTemporary: #expect(mkdir(checkpoint + ".new", 0o700) == 0)
        }
    }

    /// The kind of file under a name in the folder.
    private func status(_ url: URL) throws -> NameStatus {
        try DownloadFolder(path: url.deletingLastPathComponent().path).status(of: url.lastPathComponent)
    }

    private func fileStatus(_ url: URL) throws -> FileStatus {
        guard case .file(let status) = try status(url) else { throw CocoaError(.fileNoSuchFile) }
        return status
    }

    // MARK: - What is planted

    @Test(arguments: Plant.allCases.filter(\.isPermitted), [0, 100_000, 300_000])
    func onlyCheckpointsOfOurDownloadsAreTrusted(plant: Plant, count: Int) async throws {
        let scene = try DownloadScene()
        try self.plant(plant, count, in: scene)
        let before = try status(scene.part)
        let operation = scene.operation()
        _ = try await scene.run(operation).get()
        let difference = try Self.body.firstDifference(fromFile: scene.target)
        // An empty file that others may read is another program's.
        guard !plant.isBelieved || plant == .readable && count == 0 else {
            #expect((difference == nil) == (count == 0))
            #expect(scene.names == ["file.bin"])
            return
        }
        #expect(difference == nil)
        #expect(operation.downloadedFile?.bytesRecovered == 0)
        #expect(scene.server.requests.map { $0["Range"] } == [nil])
        let target = try fileStatus(scene.target)
        #expect(target.owner == geteuid() && target.mode & 0o022 == 0 && target.links == 1)
        // What is not ours is as it was. An empty file was in the way of no bytes.
        guard count > 0 else { return }
        #expect(try status(scene.part) == before)
        #expect(!scene.names.contains { $0.hasPrefix("file.bin.1") })
    }

    @Test func whatIsFetchedBesideAForeignFileContinuesLater() async throws {
        let scene = try DownloadScene(answers: [
            .currentRepresentation.breaking(after: .body(100_000)), .currentRepresentation,
        ])
        try plant(.downloaded, 200_000, in: scene)
        await scene.leave(100_000)
        #expect(scene.names.contains("file.bin.1.part"))
        let second = scene.operation()
        _ = try await scene.run(second).get()
        #expect(second.downloadedFile?.bytesRecovered == 100_000)
        #expect(try Self.body.firstDifference(fromFile: scene.target) == nil)
    }

    @Test func aDownloadedCheckpointIsNotContinued() throws {
        let scene = try DownloadScene()
        try plant(.downloaded, 1000, in: scene)
        #expect(throws: DownloadError.checkpointUnreadable(scene.checkpoint)) {
            try DownloadOperation(resuming: scene.checkpoint)
        }
    }

    @Test func aCheckpointOfOursIsContinued() throws {
        let scene = try DownloadScene()
        try plant(.ours, 1000, in: scene)
        #expect(throws: Never.self) { try DownloadOperation(resuming: scene.checkpoint) }
        #expect(unlink(scene.part.path) == 0)
        #expect(throws: DownloadError.checkpointUnreadable(scene.checkpoint)) {
            try DownloadOperation(resuming: scene.checkpoint)
        }
    }

    /// A process dies between the name of a file and the removal of the checkpoint. `isLink`: where names are taken by
    /// links, the part has its name as well.
    @Test(arguments: [true, false], [[], ["a.part"], ["a.part", "a.1.part", "a.2.part"]])
    func whatAProcessLeftThatDiedAtTheEndIsRemoved(isLink: Bool, others: [String]) throws {
        let directory = try TemporaryDirectory()
        for name in others { try Data("theirs".utf8).write(to: directory.file(name)) }
        let names = PartialName(of: "a").candidate(others.count)
        let (target, part) = (directory.file("a"), directory.file(names.part))
        let download = try PartialDownload(.sample, to: target, replacesFile: false)
        try download.begin(.start(nil), total: 1, origin: Sample.origin())
        try download.write("0")
        try download.flush()
        download.close()
        #expect(chmod(part.path, 0o640) == 0)
        #expect((isLink ? link(part.path, target.path) : rename(part.path, target.path)) == 0)
        #expect(throws: DownloadError.destinationExists(target)) {
            try PartialDownload(.sample, to: target, replacesFile: false)
        }
        #expect(try fileStatus(target).mode == 0o640)
        let left = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
        #expect(Set(left) == Set(["a"] + others))
    }

    /// A process may be killed while the bytes are synchronized, or while the journal of a batch is.
    @Test func theFinalModeIsGivenRightBeforeTheName() throws {
        let directory = try TemporaryDirectory()
        let part = directory.file("a.part")
        func mode() -> UInt32? { try? fileStatus(part).mode }
        var modes: [UInt32?] = []
        let environment = DownloadEnvironment(watch: { change in
            switch change {
            case .synchronize, .rename(_, to: "a"): modes.append(mode())
            default: break
            }
        })
        // One that is replaced hands its permissions on.
        try Data("old".utf8).write(to: directory.file("a"))
        #expect(chmod(directory.file("a").path, 0o664) == 0)
        let download = try PartialDownload(
            .sample,
            to: directory.file("a"),
            replacesFile: true,
            in: environment
        )
        try download.begin(.start(nil), total: 1, origin: Sample.origin())
        try download.write("0")
        modes = []
        try download.finish(modified: nil, beforeNaming: { modes.append(mode()) })
        #expect(modes == [0o600, 0o600, 0o664])
        #expect(try fileStatus(directory.file("a")).mode == 0o664)
    }

    /// A process dies between the final mode and the name. `isSameRequest`: else the next one starts over.
    @Test(arguments: [true, false])
    func aPartThatWasNotCompletedIsPrivateAgain(isSameRequest: Bool) throws {
        let directory = try TemporaryDirectory()
        let first = try PartialDownload(.sample, to: directory.file("a"), replacesFile: false)
        try first.begin(.start(nil), total: 2, origin: Sample.origin())
        try first.write("0")
        try first.flush()
        first.close()
        #expect(chmod(directory.file("a.part").path, 0o644) == 0)
        var request = URLRequest.sample
        if !isSameRequest { request.setValue("de", forHTTPHeaderField: "Accept-Language") }
        let second = try PartialDownload(request, to: directory.file("a"), replacesFile: false)
        #expect(second.count == (isSameRequest ? 1 : 0))
        #expect(try fileStatus(directory.file("a.part")).mode == 0o600)
    }

    /// The plain name of a part and that of its checkpoint, with what is no checkpoint, prove nothing.
    @Test func aLinkBesideSomethingElseStays() throws {
        let directory = try TemporaryDirectory()
        let target = directory.file("a")
        try Data("mine".utf8).write(to: target)
        #expect(link(target.path, directory.file("a.part").path) == 0)
        try Data("notes".utf8).write(to: directory.file("a.part.resume"))
        #expect(throws: DownloadError.destinationExists(target)) {
            try PartialDownload(.sample, to: target, replacesFile: false)
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: directory.url.path).sorted()
                == ["a", "a.part", "a.part.resume"]
        )
    }

    /// `a.1.part` may be one of `a.1`, whose checkpoint is not ours to remove.
    @Test func theLeftoversOfAnotherDestinationStay() throws {
        let directory = try TemporaryDirectory()
        let target = directory.file("a.1")
        let download = try PartialDownload(.sample, to: target, replacesFile: false)
        try download.begin(.start(nil), total: 1, origin: Sample.origin()) { $0.name = "a.1" }
        try download.write("0")
        try download.flush()
        download.close()
        #expect(rename(directory.file("a.1.part").path, directory.file("a").path) == 0)
        #expect(throws: DownloadError.destinationExists(directory.file("a"))) {
            try PartialDownload(.sample, to: directory.file("a"), replacesFile: false)
        }
        #expect(FileManager.default.fileExists(atPath: directory.file("a.1.part.resume").path))
    }

    @Test(.enabled(if: geteuid() == 0)) func theFolderIsNotCleanedUpForAnotherUser() async throws {
        // A file that is there, and has the name of a partial file as well.
        let scene = try DownloadScene()
        try Data("theirs".utf8).write(to: scene.target)
        #expect(link(scene.target.path, scene.part.path) == 0)
        #expect(chown(scene.target.path, 1234, 1234) == 0)
        await #expect(throws: DownloadError.destinationExists(scene.target)) {
            try await scene.run(scene.operation()).get()
        }
        #expect(scene.names == ["file.bin", "file.bin.part"])
    }

    // MARK: - Names

    @Test(arguments: [
        "a.part", "a.part.resume", "a.part.resume.new", "a.1.part", ".part", "A.PART", "a.Part.Resume",
        "a.part.",
        "a.part .", "a.part.re\u{17F}ume",
    ])
    func aNameOfOursIsRefusedAsADestination(name: String) async throws {
        let scene = try DownloadScene()
        let target = scene.folder.file(name)
        let operation = DownloadOperation(request: URLRequest(url: scene.server.url), to: target)
        await #expect(throws: DownloadError.reservedName(target)) { try await scene.run(operation).get() }
        #expect(scene.names.isEmpty)
        #expect(scene.server.requests.isEmpty)
    }

    @Test(arguments: ["a.part", "a.part.resume", "A.PART", "a.part."])
    func aNameOfOursIsRefusedAsAnOutputFile(name: String) async throws {
        let scene = try DownloadScene()
        let target = scene.folder.file(name)
        let operation = HTTPRequestOperation(request: URLRequest(url: scene.server.url))
        operation.outputFile = target
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.start()
        await #expect(throws: OutputFileError.reservedName(target)) { _ = try await operation.value }
        #expect(scene.names.isEmpty)
        #expect(scene.server.requests.isEmpty)
    }

    @Test(arguments: ["part", "a.parts", "apart", "a.part.new", "a.part.resume.newer", "a.part2", "..."])
    func aNameThatOnlyLooksLikeOursIsFine(name: String) {
        #expect(!FileName.isReserved(name))
    }

    // MARK: - Modes

    @Test func everyFileIsPrivateUntilItIsComplete() async throws {
        // The mask is the whole process's.
        await #expect(processExitsWith: .success) {
            for (mask, expected) in [(0o022, 0o644), (0o002, 0o664), (0o077, 0o600), (0o027, 0o640)]
                as [(mode_t, UInt32)]
            {
                umask(mask)
                let directory = try TemporaryDirectory()
                let folder = try DownloadFolder(path: directory.url.path)
                func mode(_ name: String) throws -> UInt32? {
                    guard case .file(let status) = try folder.status(of: name) else { return nil }
                    return status.mode
                }
                func open(replacesFile: Bool = false) throws -> PartialDownload {
                    try PartialDownload(.sample, to: directory.file("a"), replacesFile: replacesFile)
                }
                let first = try open()
                try first.begin(.start(nil), total: 2, origin: Sample.origin())
                try first.write("0")
                try first.flush()
                guard try mode("a.part") == 0o600, try mode("a.part.resume") == 0o600 else { exit(2) }
                first.close()
                // Whatever the mask, the next one goes on.
                let second = try open()
                guard second.recovered?.offset == 1 else { exit(3) }
                try second.begin(.end, total: nil, origin: Sample.origin())
                try second.write("1")
                try second.finish(modified: nil)
                guard try mode("a") == expected else { exit(4) }
                // One that is replaced hands its permissions on.
                guard chmod(directory.file("a").path, 0o640) == 0 else { exit(5) }
                let third = try open(replacesFile: true)
                try third.begin(.start(nil), total: 0, origin: Sample.origin())
                try third.finish(modified: nil)
                guard try mode("a") == 0o640 else { exit(6) }
            }
        }
    }

    @Test(.enabled(if: geteuid() == 0)) func theModeOfAnotherUsersFileIsNotTakenOver() async throws {
        let scene = try DownloadScene()
        try Data("theirs".utf8).write(to: scene.target)
        #expect(chown(scene.target.path, 1234, 1234) == 0 && chmod(scene.target.path, 0o666) == 0)
        let operation = scene.operation()
        operation.replacesFile = true
        _ = try await scene.run(operation).get()
        let status = try fileStatus(scene.target)
        #expect(status.mode & 0o022 == 0 && status.owner == 0)
    }

    @Test func aPartThatCouldNotGetItsNameIsPrivateAgain() throws {
        let directory = try TemporaryDirectory()
        let download = try PartialDownload(.sample, to: directory.file("a"), replacesFile: false)
        try download.begin(.start(nil), total: 1, origin: Sample.origin())
        try download.write("0")
        try Data().write(to: directory.file("a"))
        #expect(throws: DownloadError.destinationExists(directory.file("a"))) {
            try download.finish(modified: nil)
        }
        #expect(try fileStatus(directory.file("a.part")).mode == 0o600)
    }

    /// As another user than the one who planted it, in a folder like /tmp, and in one without its sticky bit.
    @Test(.enabled(if: geteuid() == 0)) func attacksInASharedFolderFail() async throws {
        await #expect(processExitsWith: .success) {
            for mode in [0o1777, 0o777] as [mode_t] {
                guard seteuid(0) == 0 else { exit(2) }
                let directory = try TemporaryDirectory()
                guard chmod(directory.url.path, mode) == 0 else { exit(3) }
                for name in ["a.part", "a.part.resume", "a.1.part.resume"] {
                    let path = directory.file(name).path
                    guard FileManager.default.createFile(atPath: path, contents: Data("evil".utf8)),
                        chmod(path, 0o666) == 0, chown(path, 1234, 1234) == 0
                    else { exit(4) }
                }
                guard seteuid(65534) == 0 else { exit(5) }
                let download = try PartialDownload(.sample, to: directory.file("a"), replacesFile: false)
                guard download.recovered == nil, download.partURL.lastPathComponent == "a.2.part" else {
                    exit(6)
                }
                try download.begin(.start(nil), total: 4, origin: Sample.origin())
                try download.write("good")
                try download.finish(modified: nil)
                guard try String(contentsOf: directory.file("a"), encoding: .utf8) == "good" else { exit(7) }
                let names = try FileManager.default.contentsOfDirectory(atPath: directory.url.path).sorted()
                guard names == ["a", "a.1.part.resume", "a.part", "a.part.resume"] else { exit(8) }
            }
            guard seteuid(0) == 0 else { exit(9) }
        }
    }
}
