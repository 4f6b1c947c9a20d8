import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// A `Range` of the caller's: the bytes that it asks for arrive, or a typed error does, wherever they go.
@Suite(.timeLimit(.minutes(1)))
struct OwnRangeTests {
    enum Destination: CaseIterable, Sendable {
        case memory, file, stream, download
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var asked = "bytes=1000-1099"
        let answer: Answer
        /// The body that arrives; `nil`: the error does.
        var bytes: Range<Int>?
        var error: ResumeError?

        init(_ name: String, _ contentRange: String?, length: Int = 100, error: ResumeError) {
            self.init(name, Self.part(contentRange, length), error: error)
        }

        init(_ name: String, _ answer: Answer, error: ResumeError) {
            testDescription = name
            self.answer = answer
            self.error = error
        }

        init(_ name: String, asking asked: String, _ answer: Answer, bytes: Range<Int>) {
            testDescription = name
            self.asked = asked
            self.answer = answer
            self.bytes = bytes
        }

        static func part(_ contentRange: String?, _ length: Int, type: String? = nil) -> Answer {
            var fields: FieldLines = ["ETag": "\"v1\""]
            if let contentRange { fields.append("Content-Range", contentRange) }
            if let type { fields.append("Content-Type", type) }
            return .respond(206, fields, body: body[1000..<1000 + length])
        }

        func mismatch(_ received: String) -> ResumeError {
            .rangeMismatch(requested: asked, received: received)
        }
    }

    private static let body = AnswerBody.pattern(PatternBody(seed: 1, length: 3000))

    private static func mismatch(_ received: String) -> ResumeError {
        .rangeMismatch(requested: "bytes=1000-1099", received: received)
    }

    static let wrong = [
        Row("another start", "bytes 0-99/3000", error: mismatch("bytes 0-99/3000")),
        Row("no Content-Range", nil, error: .malformedContentRange("")),
        Row(
            "more bytes",
            "bytes 1000-1099/3000",
            length: 103,
            error: .rangeLengthMismatch(range: 100, body: 103)
        ),
        Row(
            "more bytes than announced",
            Row.part("bytes 1000-1099/3000", 103).chunked(),
            error: .rangeLengthMismatch(range: 100, body: 103)
        ),
        Row(
            "fewer bytes than announced",
            Row.part("bytes 1000-1099/3000", 97).chunked(),
            error: .rangeLengthMismatch(range: 100, body: 97)
        ),
        Row("an end beyond", "bytes 1000-1199/3000", length: 200, error: mismatch("bytes 1000-1199/3000")),
        Row("an end before", "bytes 1000-1049/3000", length: 50, error: mismatch("bytes 1000-1049/3000")),
        Row("another unit", "items 1000-1099/3000", error: .malformedContentRange("items 1000-1099/3000")),
        Row(
            "a number that is too large",
            "bytes 1000-99999999999999999999/*",
            error: .malformedContentRange("bytes 1000-99999999999999999999/*")
        ),
        Row(
            "several parts",
            Row.part(nil, 100, type: "multipart/byteranges; boundary=b"),
            error: .severalParts(requested: "bytes=1000-1099")
        ),
    ]

    static let right = [
        Row(
            "the range",
            asking: "bytes=1000-1099",
            Row.part("bytes 1000-1099/3000", 100),
            bytes: 1000..<1100
        ),
        Row(
            "chunked",
            asking: "bytes=1000-1099",
            Row.part("bytes 1000-1099/*", 100).chunked(),
            bytes: 1000..<1100
        ),
        Row(
            "up to the end",
            asking: "bytes=1000-1099",
            Row.part("bytes 1000-1049/1050", 50),
            bytes: 1000..<1050
        ),
        Row("the last ones", asking: "bytes=-50", Row.part("bytes 1000-1049/1050", 50), bytes: 1000..<1050),
        Row("the rest", asking: "bytes=1000-", Row.part("bytes 1000-2999/3000", 2000), bytes: 1000..<3000),
        Row(
            "one part of several",
            asking: "bytes=1000-1009,1050-1099",
            Row.part("bytes 1000-1099/3000", 100),
            bytes: 1000..<1100
        ),
    ]

    @Test(arguments: wrong, Destination.allCases)
    func unrequestedBytesAreAnErrorAndAreDiscarded(_ row: Row, _ destination: Destination) async throws {
        let (result, folder, download) = try await fetch(row, destination)
        let error = #expect(throws: ResumeError.self) { try result.get() }
        #expect(error == row.error)
        #expect(download?.downloadedFile == nil)
        let exists = FileManager.default.fileExists(atPath: folder.file("file").path)
        guard destination != .memory, exists else { return }
        // Chunks show only as they come that they are too many or too few.
        #expect(try Data(contentsOf: folder.file("file")).count < 100)
    }

    @Test(arguments: right, Destination.allCases)
    func requestedBytesArrive(_ row: Row, _ destination: Destination) async throws {
        let bytes = try #require(row.bytes)
        let (result, folder, download) = try await fetch(row, destination)
        let object = try result.get()
        let found = destination == .memory ? object as? Data : try Data(contentsOf: folder.file("file"))
        #expect(found == Self.body[bytes].data)
        guard destination == .download else { return }
        #expect(download?.downloadedFile?.proof == .range(Int64(bytes.lowerBound)..<Int64(bytes.upperBound)))
    }

    /// RFC 9110 §14.2 lets a server ignore a `Range`.
    @Test(arguments: Destination.allCases)
    func theWholeIsAcceptedAndReported(_ destination: Destination) async throws {
        let row = Row("", asking: "bytes=1000-1099", .respond(200, body: Self.body), bytes: 0..<3000)
        let (result, folder, download) = try await fetch(row, destination)
        let object = try result.get()
        let found = destination == .memory ? object as? Data : try Data(contentsOf: folder.file("file"))
        #expect(found == Self.body.data)
        #expect(destination != .download || download?.downloadedFile?.proof == .length)
    }

    @Test(arguments: Destination.allCases)
    func severalPartsAreForMemoryAlone(_ destination: Destination) async throws {
        let type = "multipart/byteranges; boundary=b"
        let row = Row("", asking: "bytes=0-9,50-99", Row.part(nil, 200, type: type), bytes: 1000..<1200)
        let (result, _, _) = try await fetch(row, destination)
        guard destination == .memory else {
            #expect(throws: ResumeError.severalParts(requested: row.asked)) { try result.get() }
            return
        }
        #expect(try result.get() as? Data == Self.body[1000..<1200].data)
    }

    /// The server's digest is of the whole, and the part has another.
    @Test func aDigestOfTheWholeIsNotComparedWithAPart() async throws {
        let whole = try FileDigest.of(Self.body.data, algorithm: .sha256)
        let answer = Answer.respond(
            206,
            [
                "Content-Range": "bytes 1000-1099/3000",
                "Repr-Digest": "sha-256=:\(Data(whole.bytes).base64EncodedString()):",
            ],
            body: Self.body[1000..<1100]
        )
        let row = Row("", asking: "bytes=1000-1099", answer, bytes: 1000..<1100)
        let (result, folder, download) = try await fetch(row, .download)
        _ = try result.get()
        #expect(try Data(contentsOf: folder.file("file")) == Self.body[1000..<1100].data)
        #expect(download?.downloadedFile?.proof == .range(1000..<1100))
    }

    @Test func theHeadOfARangeIsNoBody() async throws {
        let server = try ScriptedServer([Row.part("bytes 0-99/3000", 100)])
        var request = URLRequest(url: server.url)
        request.httpMethod = "HEAD"
        request.setValue("bytes=1000-1099", forHTTPHeaderField: "Range")
        let operation = HTTPRequestOperation(request: request)
        operation.start()
        #expect(try await operation.value as? Data == Data())
    }

    // MARK: - nginx

    @Test(
        .enabled(if: RealServers.nginx != nil),
        arguments: ["bytes=1000-1099", "bytes=65000-", "bytes=-100", "bytes=65000-99999", "bytes=0-0"],
        Destination.allCases
    )
    func nginxSendsWhatWasRequested(_ asked: String, _ destination: Destination) async throws {
        let url = try #require(RealServers.nginx).appendingPathComponent("64k.bin")
        let root = try #require(RealServers.nginxRoot)
        let whole = try Data(contentsOf: root.appendingPathComponent("64k.bin"))
        let (result, folder, download) = try await fetch(url, asked, destination)
        let object = try result.get()
        let found = try #require(
            destination == .memory ? object as? Data : try Data(contentsOf: folder.file("file"))
        )
        let ends = asked.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        let start = ends[0] ?? whole.count - (ends[1] ?? 0)
        #expect(found == whole[start..<min(whole.count, start + found.count)])
        if destination == .download {
            #expect(download?.downloadedFile?.proof == .range(Int64(start)..<Int64(start + found.count)))
        }
    }

    @Test(.enabled(if: RealServers.nginx != nil), arguments: Destination.allCases)
    func nginxSendsSeveralParts(_ destination: Destination) async throws {
        let url = try #require(RealServers.nginx).appendingPathComponent("64k.bin")
        let (result, _, _) = try await fetch(url, "bytes=0-9,60000-60009", destination)
        guard destination == .memory else {
            #expect(throws: ResumeError.severalParts(requested: "bytes=0-9,60000-60009")) { try result.get() }
            return
        }
        let text = String(decoding: try #require(try result.get() as? Data), as: UTF8.self)
        #expect(text.contains("bytes 0-9/65536") && text.contains("bytes 60000-60009/65536"))
    }

    private func fetch(_ row: Row, _ destination: Destination) async throws
        -> (Result<(any Sendable)?, any Error>, TemporaryDirectory, DownloadOperation?)
    {
        let server = try ScriptedServer([row.answer])
        return try await fetch(server.url, row.asked, destination)
    }

    private func fetch(_ url: URL, _ asked: String, _ destination: Destination) async throws
        -> (Result<(any Sendable)?, any Error>, TemporaryDirectory, DownloadOperation?)
    {
        let folder = try TemporaryDirectory()
        let place = folder.file("file")
        var request = URLRequest(url: url)
        request.setValue(asked, forHTTPHeaderField: "Range")
        let download = destination == .download ? DownloadOperation(request: request, to: place) : nil
        let operation = download ?? HTTPRequestOperation(request: request)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.retryPolicy = nil
        if destination == .file { operation.outputFile = place }
        if destination == .stream { operation.outputStream = OutputStream(url: place, append: false) }
        operation.start()
        let result = await Result(awaiting: { try await operation.value })
        return (result, folder, download)
    }
}
