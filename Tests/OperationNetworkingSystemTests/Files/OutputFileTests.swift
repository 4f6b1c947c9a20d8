import Foundation
import Glibc
import OperationNetworkingSystem
import Testing

@Suite(.timeLimit(.minutes(1)))
struct OutputFileTests {
    private let directory: TestDirectory

    init() throws {
        directory = try TestDirectory()
    }

    private func contents(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
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

    @Test func whatIsWrittenStandsInTheFileInOrder() throws {
        let path = directory.file("new")
        let file = try OutputFile(path: path)
        try file.write(Array("abc".utf8).span)
        try file.write([UInt8]().span)
        try file.write(Array("def".utf8).span)
        try file.close()
        #expect(contents(path) == "abcdef")
    }

    @Test func openingKeepsWhatIsThereUntilItIsTruncated() throws {
        let path = directory.file("old")
        #expect(FileManager.default.createFile(atPath: path, contents: Data("0123456789".utf8)))
        let file = try OutputFile(path: path)
        #expect(contents(path) == "0123456789")
        try file.truncate()
        #expect(contents(path) == "")
        try file.write(Array("abc".utf8).span)
        #expect(contents(path) == "abc")
    }

    @Test func truncatingGoesBackToTheStart() throws {
        let path = directory.file("again")
        let file = try OutputFile(path: path)
        try file.write(Array("a longer text".utf8).span)
        try file.truncate()
        try file.write(Array("short".utf8).span)
        try file.close()
        #expect(contents(path) == "short")
    }

    @Test func aLargeBodyIsWrittenWhole() throws {
        let path = directory.file("large")
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let file = try OutputFile(path: path)
        try file.write(bytes.span)
        try file.close()
        #expect(FileManager.default.contents(atPath: path) == Data(bytes))
    }

    @Test func aFIFOWithoutAReaderIsRefusedWithoutWaiting() async {
        await #expect(processExitsWith: .success) {
            alarm(5)
            let directory = try TestDirectory()
            let path = directory.file("fifo")
            guard mkfifo(path, 0o600) == 0 else { exit(2) }
            do {
                _ = try OutputFile(path: path)
                exit(3)
            } catch let error as SystemError where error.code == ENXIO {}
        }
    }

    @Test func aFIFOWithAReaderIsRefusedToo() throws {
        let path = directory.file("fifo")
        try #require(mkfifo(path, 0o600) == 0)
        let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        #expect(code { _ = try OutputFile(path: path) } == ESPIPE)
    }

    @Test func aFullDiskIsAnErrorOfTheWrite() throws {
        let file = try OutputFile(path: "/dev/full")
        try file.truncate()
        #expect(code { try file.write(Array("a".utf8).span) } == ENOSPC)
    }

    @Test func aDeviceTakesEverything() throws {
        let file = try OutputFile(path: "/dev/null")
        try file.truncate()
        try file.write([UInt8](repeating: 1, count: 100_000).span)
        try file.close()
    }

    @Test func aDirectoryAndAMissingOneAreErrorsThatNameThePath() throws {
        #expect(code { _ = try OutputFile(path: directory.path) } == EISDIR)
        let missing = directory.file("no/such/directory")
        let error = #expect(throws: SystemError.self) { try OutputFile(path: missing) }
        #expect(error?.description == "open \(missing): No such file or directory (errno 2)")
    }

    @Test func closingTwiceDoesNothingMore() throws {
        let file = try OutputFile(path: directory.file("closed"))
        try file.close()
        try file.close()
        #expect(code { try file.write(Array("a".utf8).span) } == EBADF)
    }

    @Test func theDescriptorIsCloseOnExec() throws {
        let path = directory.file("private")
        try withExtendedLifetime(OutputFile(path: path)) {
            let links = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
            let numbers = links.compactMap { Int32($0) }.filter { number in
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)"))
                    == path
            }
            #expect(numbers.count == 1)
            for number in numbers { #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0) }
        }
    }
}
