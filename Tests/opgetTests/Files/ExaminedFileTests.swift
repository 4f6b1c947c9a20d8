import Foundation
import Glibc
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import opget

@Suite struct ExaminedFileTests {
    /// A change that another program makes to `a`, which has the text `right`.
    enum Change: CaseIterable, Sendable {
        /// By another file with the same bytes.
        case replaced
        /// As many bytes, in the same file.
        case written
        case lengthened
        case becameADirectory

        func make(in directory: TemporaryDirectory) throws {
            let (file, other) = (directory.file("a"), directory.file("b"))
            switch self {
            case .replaced:
                try Data("right".utf8).write(to: other)
                #expect(rename(other.path, file.path) == 0)
            case .written:
                let before = SeenVersion(of: file)
                // Changes within a few milliseconds may have the same time.
                repeat {
                    try Data("wrong".utf8).write(to: file)
                } while SeenVersion(of: file) == before
            case .lengthened:
                try Data("right, and more".utf8).write(to: file)
            case .becameADirectory:
                try FileManager.default.createDirectory(at: other, withIntermediateDirectories: false)
                #expect(unlink(file.path) == 0)
                #expect(rename(other.path, file.path) == 0)
            }
        }
    }

    private struct ReadError: Error, Equatable {}

    private let directory: TemporaryDirectory
    private let path: FilePath
    private let digests: [FileDigest]

    init() throws {
        directory = try TemporaryDirectory()
        path = FilePath(directory.file("a").path)
        digests = try [DigestAlgorithm.sha256, .sha512].map {
            try FileDigest.of(Data("right".utf8), algorithm: $0)
        }
        try Data("right".utf8).write(to: directory.file("a"))
    }

    /// Has the file changed after it was read for its first digest, and before it is for the second.
    private func verify(
        _ path: FilePath,
        _ change: () throws -> Void
    ) throws -> FileStep.Verification? {
        try ExaminedFile(of: path).examine { () throws -> FileStep.Verification in
            let first = try ExistingFile.verify(path, [digests[0]])
            try change()
            if case .wrong = first { return first }
            return try ExistingFile.verify(path, digests)
        }
    }

    @Test func aFindingCountsOnlyForTheSameFile() {
        #expect(ExaminedFile.Fate(isTaken: true, isSame: true) == .unchanged)
        #expect(ExaminedFile.Fate(isTaken: true, isSame: false) == .changed)
        #expect(ExaminedFile.Fate(isTaken: false, isSame: false) == .removed)
        #expect(ExaminedFile.Fate(isTaken: false, isSame: true) == .removed)
    }

    @Test func aFileThatStaysIsWhatItsDigestsSay() throws {
        let right = try verify(path) {}
        #expect(right == FileStep.Verification.right(digests[1]))
        try Data("wrong".utf8).write(to: directory.file("a"))
        let wrong = try verify(path) {}
        #expect(wrong?.failure?.outcome == .checksum)
        #expect(throws: ReadError()) {
            try ExaminedFile(of: path).examine { () throws -> Int in throw ReadError() }
        }
    }

    @Test(arguments: Change.allCases)
    func aFileThatIsChangedWhileItIsReadIsAnError(change: Change) throws {
        #expect(throws: Failure(changed: path)) { try verify(path) { try change.make(in: directory) } }
        #expect(Failure(changed: path).outcome == .exists)
    }

    /// The old bytes were wrong: that says nothing of the new ones.
    @Test func aWrongFileThatIsReplacedWhileItIsReadIsAnError() throws {
        try Data("wrong".utf8).write(to: directory.file("a"))
        #expect(throws: Failure(changed: path)) {
            try verify(path) { try Change.replaced.make(in: directory) }
        }
    }

    @Test func aFileThatIsRemovedWhileItIsReadIsGone() throws {
        let found = try verify(path) { try remove("a") }
        #expect(found == nil)
    }

    @Test func aLinkThatLeadsElsewhereMeanwhileIsAnError() throws {
        let link = FilePath(directory.file("link").path)
        try makeLink("link", to: "a")
        let right = try verify(link) {}
        #expect(right == FileStep.Verification.right(digests[1]))
        // The same bytes, of another file.
        try Data("right".utf8).write(to: directory.file("b"))
        #expect(throws: Failure(changed: link)) {
            try verify(link) {
                try remove("link")
                try makeLink("link", to: "b")
            }
        }
        #expect(throws: Failure(changed: link)) { try verify(link) { try remove("b") } }
        try remove("link")
        try makeLink("link", to: "a")
        let found = try verify(link) { try remove("link") }
        #expect(found == nil)
    }

    private func remove(_ name: String) throws {
        try FileManager.default.removeItem(at: directory.file(name))
    }

    private func makeLink(_ name: String, to target: String) throws {
        let path = directory.file(name).path
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    }
}
