import Foundation
import FoundationNetworking
import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Replays every beginning of what a download did to its disk, and has the next process find what was left.
@Suite(.timeLimit(.minutes(5)))
struct PowerLossTests {
    /// The changes that were made, and the promises meanwhile.
    private struct Recording {
        var start = DiskModel()
        var changes: [FileChange] = []
        /// From how many changes on how many bytes were promised to stay.
        var promises: [(from: Int, bytes: Int64)] = []

        func promised(after count: Int) -> Int64 {
            promises.last { $0.from <= count }?.bytes ?? 0
        }

        func disk(after count: Int) -> DiskModel {
            var disk = start
            for change in changes.prefix(count) { disk.apply(change) }
            return disk
        }
    }

    private static let seeds: [UInt64] = Array(1...6)

    private func record(_ story: DownloadStory) throws -> Recording {
        let directory = try MemoryDirectory()
        let machine = Machine()
        var recording = Recording()
        if let before = story.before {
            try before.write(to: directory.file("a"))
        }
        recording.start = try Self.disk(in: directory)
        try story.run {
            try PartialDownload(
                .sample,
                to: directory.file("a"),
                replacesFile: story.replacesFile,
                in: machine.environment
            )
        } didProgress: { download in
            recording.promises.append((machine.changes.value.count, download?.committed ?? 0))
        }
        recording.changes = machine.changes.value
        return recording
    }

    /// The contents of the folder, all of it on the disk.
    private static func disk(in directory: MemoryDirectory) throws -> DiskModel {
        let folder = try DownloadFolder(path: directory.url.path)
        var contents: [String: (inode: UInt64, bytes: Data)] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.url.path) {
            guard case .file(let status) = try folder.status(of: name) else { continue }
            let bytes = try Data(contentsOf: directory.file(name))
            contents[name] = (status.identity.inode, bytes)
        }
        return DiskModel(contents)
    }

    private static func write(_ contents: [String: Data], to directory: MemoryDirectory) throws {
        let folder = try DownloadFolder(path: directory.url.path)
        for (name, bytes) in contents {
            let file = directory.file(name)
            try bytes.write(to: file)
            // As it was made.
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        }
        // Files keep their attributes, which are set before the first byte.
        for (name, bytes) in contents where name.hasSuffix(".resume.new") {
            _ = try folder.replace(name, with: Array(bytes), temporary: "temporary", isDurable: false)
        }
        // And their inodes and times of birth.
        for (name, bytes) in contents where name.hasSuffix(".resume") {
            let part = try folder.open(String(name.dropLast(".resume".count))) ?? folder.open("a")
            guard let part, var checkpoint = try? DownloadCheckpoint(fileBytes: Array(bytes)) else {
                continue
            }
            checkpoint.part = part.lastingIdentity
            _ = try folder.replace(
                name,
                with: checkpoint.fileBytes(),
                temporary: "temporary",
                isDurable: false
            )
        }
    }

    /// The next process, after the restart: it has to end with the right file.
    /// - Returns: how many bytes it found.
    private func finish(_ story: DownloadStory, in directory: MemoryDirectory, _ machine: Machine) throws
        -> Int64
    {
        let download: PartialDownload
        do {
            download = try PartialDownload(
                .sample,
                to: directory.file("a"),
                replacesFile: story.replacesFile,
                in: machine.environment
            )
        } catch DownloadError.destinationExists {
            return .max
        }
        defer { download.close() }
        let found = download.count
        let there = Data(try download.read(Int(found), at: 0))
        let tag = download.checkpoint?.origin.headerFields["ETag"]
        let isRight = Version.all.contains { $0.tag == tag && $0.data.prefix(there.count) == there }
        #expect(isRight || found == 0, "The \(found) bytes are not those of \(tag ?? "nothing")")
        try story.version.send(to: download, settlingEvery: 5)
        try download.finish(modified: nil)
        return found
    }

    private func bytes(of directory: MemoryDirectory) -> Data? {
        FileManager.default.contents(atPath: directory.file("a").path)
    }

    private func isRight(_ bytes: Data?, _ story: DownloadStory) -> Bool {
        bytes == nil || bytes == story.before || bytes == story.version.data
    }

    // MARK: - Loss of power

    @Test(arguments: DownloadStory.allCases)
    func everyMomentLeavesAStateThatTheNextRunRecoversFrom(story: DownloadStory) throws {
        let recording = try record(story)
        let asked = Self.bytesAskedForAgain(story)
        #expect(recording.changes.count > 10)
        var disk = recording.start
        for count in 0...recording.changes.count {
            if count > 0 { disk.apply(recording.changes[count - 1]) }
            let random = Self.seeds.map {
                PowerLoss.atRandom(SeededGenerator(seed: $0 &* 1000 &+ UInt64(count)))
            }
            for var loss in PowerLoss.regular + random {
                let description: Comment = "after \(count) changes, loss \(loss)"
                let directory = try MemoryDirectory()
                try Self.write(disk.contents(after: &loss), to: directory)
                let saved = bytes(of: directory)
                #expect(isRight(saved, story), description)
                let machine = Machine()
                machine.session = "the next boot"
                let found = try finish(story, in: directory, machine)
                let isComplete = saved == story.version.data
                #expect(isComplete || found >= recording.promised(after: count) - asked, description)
                #expect(bytes(of: directory) == story.version.data, description)
            }
        }
    }

    @Test(arguments: DownloadStory.allCases)
    func aSecondLossDuringTheRecoveryIsRecoveredFromToo(story: DownloadStory) throws {
        let recording = try record(story)
        var generator = SeededGenerator(seed: 42)
        for _ in 0..<40 {
            let directory = try MemoryDirectory()
            var loss = PowerLoss.atRandom(SeededGenerator(seed: generator.next()))
            let count = Int.random(in: 0...recording.changes.count, using: &generator)
            try Self.write(recording.disk(after: count).contents(after: &loss), to: directory)

            let machine = Machine()
            machine.session = "the next boot"
            var disk = try Self.disk(in: directory)
            _ = try finish(story, in: directory, machine)
            let changes = machine.changes.value
            for change in changes.prefix(Int.random(in: 0...changes.count, using: &generator)) {
                disk.apply(change)
            }

            let second = try MemoryDirectory()
            try Self.write(disk.contents(after: &loss), to: second)
            #expect(isRight(bytes(of: second), story))
            machine.session = "the boot after that"
            _ = try finish(story, in: second, machine)
            #expect(bytes(of: second) == story.version.data)
        }
    }

    // MARK: - Death of the process

    /// Nothing is lost then, so nothing may be fetched again: neither what was committed nor what was not.
    @Test(arguments: DownloadStory.allCases)
    func aProcessThatDiesAtAnyMomentLosesNothing(story: DownloadStory) throws {
        let total = try record(story).changes.count
        for limit in 0..<total {
            let directory = try MemoryDirectory()
            if let before = story.before { try before.write(to: directory.file("a")) }
            let machine = Machine()
            var count = 0
            machine.fault.value = { _ in
                count += 1
                return count > limit ? SystemError(5, "dead") : nil
            }
            try? story.run {
                // The dead open nothing.
                if count > limit { throw SystemError(5, "dead") }
                return try PartialDownload(
                    .sample,
                    to: directory.file("a"),
                    replacesFile: story.replacesFile,
                    in: machine.environment
                )
            } didProgress: { _ in
            }
            #expect(isRight(bytes(of: directory), story), "after \(limit) changes")

            let written = Self.written(machine.changes.value)
            machine.fault.value = { _ in nil }
            let found = try finish(story, in: directory, machine)
            #expect(found >= written - Self.bytesAskedForAgain(story), "after \(limit) changes")
            #expect(bytes(of: directory) == story.version.data, "after \(limit) changes")
        }
    }

    /// The last byte of a complete part, where a file would be replaced (P7).
    private static func bytesAskedForAgain(_ story: DownloadStory) -> Int64 { story.replacesFile ? 1 : 0 }

    /// The length of the part after these changes, apart from the first that begins a file without a
    /// checkpoint.
    private static func written(_ changes: [FileChange]) -> Int64 {
        var part: UInt64?
        var size: Int64 = 0
        for change in changes {
            switch change {
            case .create("a.part", let inode): (part, size) = (inode, 0)
            case .write(let inode, let offset, let bytes) where inode == part:
                size = offset + Int64(bytes.count)
            case .truncate(let inode, let length) where inode == part: size = length
            case .rename("a.part", _), .remove("a.part"): (part, size) = (nil, 0)
            default: break
            }
        }
        return size
    }
}
