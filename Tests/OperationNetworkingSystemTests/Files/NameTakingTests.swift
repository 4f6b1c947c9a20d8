import Foundation
import Glibc
import OperationNetworkingSystem
import Testing

/// A complete file gets a name that an operation of this process may write, or begin to write.
@Suite struct NameTakingTests {
    private let directory: TestDirectory
    private let folder: DownloadFolder

    init() throws {
        directory = try TestDirectory()
        folder = try DownloadFolder(path: directory.path)
    }

    private func make(_ name: String, _ text: String) throws -> PartFile {
        let file = try #require(try folder.create(name))
        try file.write(Array(text.utf8).span, at: 0)
        return file
    }

    private func write(_ text: String, to name: String) throws -> OutputFile {
        let file = try #require(try OutputFile(path: directory.file(name)))
        #expect(try file.write(Array(text.utf8).span) == text.utf8.count)
        return file
    }

    private func text(_ name: String) -> String? {
        try? String(contentsOfFile: directory.file(name), encoding: .utf8)
    }

    /// The name is free when it is looked at, and an operation begins to write a file of that name before the
    /// rename.
    @Test(arguments: [[.inOneStep], [.byLink]] as [[DownloadFolder.ExclusiveRename]])
    func aFileThatIsBegunOnTheFreeNameIsNotReplaced(ways: [DownloadFolder.ExclusiveRename]) throws {
        let file = try make("part", "complete")
        folder.exclusiveRenames = ways
        var begun: OutputFile?
        #expect(throws: FileClaim.Taken.self) {
            try folder.rename("part", replacing: "name", of: file) {
                if begun == nil { begun = try write("begun", to: "name") }
            }
        }
        #expect(text("name") == "begun" && text("part") == "complete")
        try begun?.close()
        try folder.rename("part", replacing: "name", of: file)
        #expect(text("name") == "complete" && text("part") == nil)
    }

    @Test func whatNobodyWritesIsReplaced() throws {
        #expect(symlink("elsewhere", directory.file("name")) == 0)
        let file = try make("part", "complete")
        try folder.rename("part", replacing: "name", of: file)
        #expect(text("name") == "complete" && text("part") == nil)
        #expect(try folder.isName("name", of: file))
    }

    /// The name gets another file after the first look, and that one is being written.
    @Test func aFileThatGotTheNameBetweenTheLooksIsNotReplaced() throws {
        _ = try make("name", "old")
        let file = try make("part", "complete")
        var begun: OutputFile?
        #expect(throws: FileClaim.Taken.self) {
            try folder.rename("part", replacing: "name", of: file) {
                guard begun == nil else { return }
                // It keeps its number, or the next file could get it.
                try folder.rename("name", to: "elsewhere")
                begun = try write("begun", to: "name")
            }
        }
        #expect(text("name") == "begun" && text("part") == "complete")
    }

    @Test func nothingOfThisProcessBeginsToWriteWhatIsBeingReplaced() throws {
        _ = try make("name", "old")
        let file = try make("part", "complete")
        try folder.rename("part", replacing: "name", of: file) {
            #expect(throws: FileClaim.Taken.self) { try OutputFile(path: directory.file("name")) }
        }
        #expect(text("name") == "complete")
    }

    @Test func whatMayNotBeReplacedKeepsTheName() throws {
        struct No: Error {}
        _ = try make("name", "old")
        let file = try make("part", "complete")
        #expect(throws: No.self) { try folder.rename("part", replacing: "name", of: file) { throw No() } }
        #expect(text("name") == "old" && text("part") == "complete")
        // The claim is given back.
        try write("new", to: "name").close()
    }

    @Test func aNameThatGetsAnotherFileMeanwhileIsInUse() throws {
        _ = try make("name", "old")
        let file = try make("part", "complete")
        #expect(throws: FileClaim.Taken.self) {
            try folder.rename("part", replacing: "name", of: file) {
                try folder.rename("name", to: "elsewhere")
                _ = try make("name", "another")
            }
        }
        #expect(text("name") == "another" && text("part") == "complete")
    }

    /// A folder that may not be read, and a file that may not be, are no obstacles: names are enough.
    @Test(arguments: DownloadFolder.ExclusiveRename.allCases)
    func namesAreEnough(way: DownloadFolder.ExclusiveRename) throws {
        try make("part", "complete").close()
        let names = try DownloadFolder(forNamesIn: directory.path)
        names.exclusiveRenames = [way]
        try names.rename("part", replacing: "name", of: names.identify("part"))
        #expect(text("name") == "complete" && text("part") == nil)
        #expect(throws: SystemError.self) { try names.identify("part") }
        #expect(throws: SystemError.self) { try DownloadFolder(forNamesIn: directory.file("name")) }
    }
}
