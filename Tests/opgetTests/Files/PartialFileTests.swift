import Foundation
import OperationNetworkingTesting
import Testing

@testable import opget

@Suite struct PartialFileTests {
    private let directory: TemporaryDirectory
    private let leftovers = Leftovers()

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func path(_ name: String) -> FilePath { FilePath(directory.file(name).path) }

    private func make(_ name: String, reserved: Set<FilePath> = []) throws -> PartialFile {
        try PartialFile(for: path(name), isReserved: reserved.contains, leftovers: leftovers)
    }

    private func write(_ text: String, _ name: String) throws {
        try Data(text.utf8).write(to: directory.file(name))
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.url.path).sorted()
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOf: directory.file(name), encoding: .utf8)
    }

    @Test func getsItsNameWhenItIsComplete() throws {
        let file = try make("a")
        #expect(try names() == ["a.part"])
        try write("12345", "a.part")
        #expect(try file.commit(length: 5, replacing: false) == 5)
        #expect(try names() == ["a"])
    }

    @Test func isRemovedWhenItIsDiscardedOrForgotten() throws {
        let file = try make("a")
        file.discard()
        #expect(try names() == [])
        _ = try make("b")
        #expect(try names() == [])
    }

    @Test func isRemovedWhenItsLengthIsWrong() throws {
        let file = try make("a")
        try write("123", "a.part")
        #expect(throws: Failure.self) { try file.commit(length: 5, replacing: false) }
        #expect(try names() == [])
    }

    @Test func aFileThatAppearedMeanwhileIsLeftAsItIs() throws {
        let file = try make("a")
        try write("theirs", "a")
        #expect(throws: Failure.self) { try file.commit(length: nil, replacing: false) }
        #expect(try names() == ["a"])
        #expect(try text("a") == "theirs")
    }

    @Test func aFileIsReplacedOnRequest() throws {
        try write("old", "a")
        let file = try make("a")
        try write("new", "a.part")
        _ = try file.commit(length: nil, replacing: true)
        #expect(try names() == ["a"])
        #expect(try text("a") == "new")
    }

    @Test func twoRunsDoNotWriteTheSameFile() throws {
        let first = try make("a")
        let error = #expect(throws: Failure.self) { try make("a") }
        #expect(error?.sentence.contains("another opget") == true)
        first.discard()
        _ = try make("a")
    }

    @Test func aTemporaryFileThatNobodyUsesIsNotTouched() throws {
        try write("theirs", "a.part")
        let file = try make("a")
        #expect(file.path == path("a.1.part"))
        _ = try file.commit(length: nil, replacing: false)
        #expect(try names() == ["a", "a.part"])
        #expect(try text("a.part") == "theirs")
    }

    @Test func theNameOfAnotherItemIsNotTaken() throws {
        let file = try make("a", reserved: [path("a.part")])
        #expect(file.path == path("a.1.part"))
    }

    @Test func anEndThatCannotWaitRemovesTheFile() throws {
        let file = try make("a")
        leftovers.removeFiles()
        #expect(try names() == [])
        file.discard()
    }

    @Test func theLongestNameHasATemporaryOneToo() throws {
        let long = String(repeating: "a", count: 255)
        let file = try make(long)
        #expect(file.path.name.utf8.count <= 255)
        #expect(file.path.name.hasSuffix(".part"))
        let other = String(repeating: "a", count: 254) + "b"
        #expect(PartialName(of: other).candidate(0) != PartialName(of: long).candidate(0))
        _ = try file.commit(length: 0, replacing: false)
        #expect(try names() == [long])
    }

    @Test func directoriesAreMadeWithThoseAboveThem() throws {
        try Directory.make(path("x/y/z"))
        try Directory.make(path("x/y/z"))
        #expect(try FileStatus(of: path("x/y/z")) == .directory)
        try write("", "file")
        #expect(throws: Failure.self) { try Directory.make(path("file")) }
        #expect(throws: Failure.self) { try Directory.make(path("file/below")) }
    }

    @Test func whatIsThereIsTold() throws {
        try write("123", "file")
        try FileManager.default.createSymbolicLink(atPath: path("link").text, withDestinationPath: "nowhere")
        #expect(try FileStatus(of: path("file")) == .file(size: 3))
        #expect(try FileStatus(of: path("none")) == .nothing)
        #expect(try FileStatus(of: path("link")) == .other)
        #expect(try FileStatus(of: FilePath("/dev/null")) == .device)
    }
}
