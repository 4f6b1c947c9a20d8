import Foundation
import FoundationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct BodySourceTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func file(_ data: Data = Data("content".utf8)) throws -> URL {
        let file = directory.file("source.bin")
        try data.write(to: file)
        return file
    }

    // MARK: - Lengths and reading

    @Test func readingNoBytesTakesNone() {
        let stream = BodySource.data(Data("abc".utf8)).makeInputStream()
        var buffer = [UInt8](repeating: 0, count: 8)
        #expect(stream.read(&buffer, maxLength: 0) == -1)
        stream.open()
        #expect(stream.read(&buffer, maxLength: 0) == 0)
        #expect(stream.read(&buffer, maxLength: 8) == 3)
    }

    @Test func aFileThatOnlySaysThatItIsEmptyIsAnError() throws {
        let error = #expect(throws: RequestBodyError.self) {
            try BodySource.file(URL(fileURLWithPath: "/proc/self/status"))
        }
        guard case .unreadableFile("/proc/self/status", _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(arguments: [701, 4096, 1 << 20])
    func severalSegmentsAreReadInARow(pieceSize: Int) throws {
        let pattern = PatternBody(length: 300_000).data
        let file = try file(pattern)
        let body = BodySource([
            .data(Data("head".utf8)), .data(Data()), try .file(at: file),
            .stream(StreamSegment(length: 3, name: "s") { InputStream(data: Data("tail".utf8)) }),
        ])
        #expect(body.length == 300_007)
        #expect(try read(body, by: pieceSize) == Data("head".utf8) + pattern + Data("tai".utf8))
        #expect(try read(body, by: pieceSize).count == 300_007)
    }

    @Test func aStreamWithoutALengthIsReadToItsEnd() throws {
        let body = BodySource.stream(InputStream(data: Data("all of it".utf8)))
        #expect(body.length == nil)
        #expect(try read(body) == Data("all of it".utf8))
    }

    @Test func lengthsThatDoNotFitANumberAreUnknown() {
        let segment = BodySegment.stream(StreamSegment(length: .max, name: "s") { nil })
        #expect(BodySource([segment]).length == .max)
        #expect(BodySource([segment, segment]).length == nil)
    }

    // MARK: - What goes wrong

    @Test(arguments: [("shorter", "conten"), ("longer", "content!"), ("gone", nil)])
    func aFileThatChangedIsAnError(_ how: String, now: String?) throws {
        let url = try file()
        let body = try BodySource.file(url)
        if let now { try Data(now.utf8).write(to: url) } else { try FileManager.default.removeItem(at: url) }
        let expected: RequestBodyError =
            if let now {
                .fileChanged(path: url.path, expected: 7, found: Int64(now.utf8.count))
            } else {
                .unreadableFile(path: url.path, reason: "No such file or directory")
            }
        #expect(throws: expected) { try read(body) }
    }

    @Test func aFileThatIsCutWhileItIsReadIsAnError() throws {
        let url = try file(Data(count: 100))
        let reader = BodyReader(try .file(url))
        #expect(try reader.next(atMost: 40).count == 40)
        try FileHandle(forWritingTo: url).truncate(atOffset: 60)
        #expect(try reader.next(atMost: 40).count == 20)
        #expect(throws: RequestBodyError.fileChanged(path: url.path, expected: 100, found: 60)) {
            try reader.next(atMost: 40)
        }
    }

    @Test func aStreamThatEndsEarlyIsAnError() throws {
        let body = BodySource.stream(InputStream(data: Data("abc".utf8)), length: 5)
        #expect(throws: RequestBodyError.streamTooShort("the stream", expected: 5, found: 3)) {
            try read(body)
        }
    }

    @Test func aStreamThatFailsIsItsError() throws {
        let body = BodySource.stream(InputStream(url: directory.file("nothing")) ?? InputStream(data: Data()))
        #expect(throws: (any Error).self) { try read(body) }
    }

    @Test func aStreamBelongsToItsFirstReader() throws {
        let body = BodySource.stream(InputStream(data: Data("abc".utf8)))
        let reader = BodyReader(body)
        #expect(try reader.next(atMost: 1) == Data("a".utf8))
        #expect(throws: RequestBodyError.streamUsed("the stream")) { try read(body) }
        #expect(try reader.next(atMost: 5) == Data("bc".utf8))
        #expect(!body.isRepeatable)
    }

    @Test func aProviderWithoutAStreamIsAnError() throws {
        let body = BodySource.stream { nil }
        #expect(throws: RequestBodyError.streamNotMade("the stream")) { try read(body) }
    }

    // MARK: - As a stream, in a request, in a file

    @Test func itCanBeUsedAsAnInputStream() throws {
        let url = try file()
        let stream = try BodySource.file(url).makeInputStream()
        #expect(stream.streamStatus == .notOpen)
        #expect(!stream.hasBytesAvailable)
        stream.open()
        var bytes = [UInt8](repeating: 0, count: 5)
        #expect(stream.hasBytesAvailable)
        #expect(stream.read(&bytes, maxLength: 5) == 5)
        #expect(bytes == Array("conte".utf8))
        #expect(stream.read(&bytes, maxLength: 5) == 2)
        #expect(stream.read(&bytes, maxLength: 5) == 0)
        #expect(stream.streamStatus == .atEnd)
        #expect(!stream.hasBytesAvailable)
        stream.close()
        #expect(stream.streamStatus == .closed)
        #expect(stream.read(&bytes, maxLength: 5) == -1)
    }

    @Test func itsStreamFailsWithItsError() throws {
        let url = try file()
        let stream = try BodySource.file(url).makeInputStream()
        try FileManager.default.removeItem(at: url)
        stream.open()
        var bytes = [UInt8](repeating: 0, count: 5)
        #expect(stream.read(&bytes, maxLength: 5) == -1)
        #expect(stream.streamStatus == .error)
        #expect(stream.streamError is RequestBodyError)
    }

    @Test func aRequestCarriesItWithItsLength() throws {
        var request = URLRequest(url: directory.url)
        request.httpBody = Data("old".utf8)
        request.bodySource = try .file(file())
        #expect(request.httpBody == nil)
        #expect(request.value(forHTTPHeaderField: "Content-Length") == "7")
        #expect(try request.bodySource.map { try read($0) } == Data("content".utf8))
        let copy = request
        request.bodySource = nil
        #expect(request.httpBodyStream == nil)
        #expect(request.value(forHTTPHeaderField: "Content-Length") == nil)
        #expect(copy.bodySource?.length == 7)
    }

    @Test func aForeignStreamIsNotASource() {
        var request = URLRequest(url: directory.url)
        request.httpBodyStream = InputStream(data: Data())
        #expect(request.bodySource == nil)
    }

    @Test func aFileGetsAllOfIt() async throws {
        let pattern = PatternBody(length: 200_000).data
        let target = directory.file("target.bin")
        try Data("old".utf8).write(to: target)
        try await BodySource.data(pattern).write(to: target)
        #expect(try Data(contentsOf: target) == pattern)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == ["target.bin"])
    }

    @Test func aFileThatAnOperationWritesIsNotReplaced() async throws {
        let target = directory.file("target.bin")
        let file = try #require(try OutputFile(path: target.path))
        #expect(try file.write([1, 2, 3].span) == 3)
        await #expect(throws: RequestBodyError.fileInUse(path: target.path)) {
            try await BodySource.data(Data("new".utf8)).write(to: target)
        }
        #expect(try Data(contentsOf: target) == Data([1, 2, 3]))
        try file.close()
        try await BodySource.data(Data("new".utf8)).write(to: target)
        #expect(try Data(contentsOf: target) == Data("new".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == ["target.bin"])
    }

    /// The operation begins after the name was found to be free.
    @Test func aFileThatAnOperationBeginsMeanwhileIsNotReplaced() throws {
        let target = directory.file("target.bin")
        var file: OutputFile?
        #expect(throws: RequestBodyError.fileInUse(path: target.path)) {
            try BodyFile.write(BodySource.data(Data("new".utf8)), to: target) { _ in
                guard file == nil else { return }
                file = try OutputFile(path: target.path)
                _ = try file?.write([1, 2, 3].span)
            }
        }
        #expect(try Data(contentsOf: target) == Data([1, 2, 3]))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == ["target.bin"])
    }

    @Test func aFileIsNotTouchedByABodyThatFails() async throws {
        let target = directory.file("target.bin")
        try Data("old".utf8).write(to: target)
        let body = BodySource([
            .data(Data(count: 100_000)), .stream(StreamSegment(length: 1, name: "s") { nil }),
        ])
        await #expect(throws: RequestBodyError.streamNotMade("s")) { try await body.write(to: target) }
        #expect(try Data(contentsOf: target) == Data("old".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == ["target.bin"])
    }

    @Test func aFileThatCannotBeMadeIsAnError() async throws {
        let missing = directory.url.appendingPathComponent("missing/target.bin")
        await #expect(throws: CocoaError.self) { try await BodySource.data(Data()).write(to: missing) }
        let web = try #require(URL(string: "http://localhost/"))
        await #expect(throws: RequestBodyError.notAFileURL("http://localhost/")) {
            try await BodySource.data(Data()).write(to: web)
        }
    }

    @Test(.enabled(if: SmallDisk.isPermitted, "mounting a tmpfs is not permitted here"))
    func aFullDiskLeavesNothing() async throws {
        let disk = try SmallDisk()
        let target = disk.file("target.bin")
        let error = await #expect(throws: CocoaError.self) {
            try await BodySource.data(Data(count: 2 * SmallDisk.capacity)).write(to: target)
        }
        #expect(error?.code == .fileWriteOutOfSpace)
        let directory = target.deletingLastPathComponent().path
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
    }

    // MARK: - Lengths that are none

    @Test func aNegativeLengthIsAnError() throws {
        let stream = InputStream(data: Data("content".utf8))
        var form = MultipartFormData()
        #expect(throws: RequestBodyError.negativeLength("the part a", -1)) {
            try form.appendPart(
                withInputStream: stream,
                name: "a",
                fileName: "a",
                length: -1,
                mimeType: "text/plain"
            )
        }
        #expect(throws: RequestBodyError.negativeLength("the part a", -2)) {
            try form.appendPart(name: "a", fileName: "a", length: -2, mimeType: "text/plain") {
                InputStream(data: Data())
            }
        }
        let source = BodySource.stream(length: -3) { InputStream(data: Data("content".utf8)) }
        #expect(source.length == nil)
        #expect(throws: RequestBodyError.negativeLength("the stream", -3)) { try read(source) }
    }

    @Test func nothingIsSentOfAStreamOfNegativeLength() async throws {
        let server = try ScriptedServer([.respond(body: "x")])
        var request = URLRequest(url: server.url)
        request.httpMethod = "PUT"
        request.bodySource = .stream(InputStream(data: Data("content".utf8)), length: -1)
        #expect(request.value(forHTTPHeaderField: "Content-Length") == nil)
        let operation = HTTPRequestOperation(request: request)
        operation.start()
        await #expect(throws: RequestBodyError.negativeLength("the stream", -1)) {
            try await operation.value
        }
    }

    @Test func aNameAsLongAsNamesMayBeIsWritten() async throws {
        let target = directory.file(String(repeating: "\u{e9}", count: 125))
        try await BodySource.data(Data("new".utf8)).write(to: target)
        #expect(try Data(contentsOf: target) == Data("new".utf8))
    }

    /// A transfer may end before it has asked for a byte; the next one is given the same stream.
    @Test func aStreamThatWasStoppedBeforeItBeganCanBeRead() async throws {
        let stream = BodyStream(InputStream(data: Data("abc".utf8)), length: 3)
        stream.stop()
        let again = try #require(stream.fromStart())
        let isReady = Recorder<Bool>()
        var received = Data()
        while received.count < 3 {
            switch again.next(atMost: 10, whenReady: { isReady.append(true) }) {
            case .bytes(let piece): received.append(piece)
            case .notYet: try await isReady.wait()
            case .end, .failed: throw CocoaError(.fileReadUnknown)
            }
        }
        #expect(received == Data("abc".utf8))
    }
}
