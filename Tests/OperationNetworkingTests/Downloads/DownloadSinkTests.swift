import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct DownloadSinkTests {
    private let folder: TemporaryDirectory
    private let sink: DownloadSink
    private let progress = Locked(DownloadProgress())

    init() throws {
        folder = try TemporaryDirectory()
        let url = try #require(URL(string: "http://example.com/file"))
        let plan = DownloadPlan(
            request: URLRequest(url: url),
            options: DownloadOptions(destination: folder.file("file"))
        )
        sink = DownloadSink(plan, progress: progress)
    }

    private func open() async throws {
        _ = try await withCheckedThrowingContinuation { continuation in
            _ = sink.open { continuation.resume(with: $0) }
        }
    }

    private func start(_ place: BodyStart.Place, total: Int64? = 10) -> BodyStart {
        BodyStart(
            place: place,
            total: total,
            head: ResponseHead(version: "HTTP/1.1", status: 200, fields: ["ETag": "\"v1\""]),
            url: URL(fileURLWithPath: "/")
        )
    }

    private func write(_ text: String) throws { try sink.write(Array(text.utf8).span) }

    /// Prepares, and waits until bytes may come.
    private func prepare(_ place: BodyStart.Place) async throws {
        let changes = Recorder<Bool>()
        sink.onChange = { changes.append(true) }
        try sink.prepare(start(place))
        try await changes.wait()
        #expect(!sink.isFull)
    }

    private func end() async -> String {
        await withCheckedContinuation { continuation in
            _ = sink.end { continuation.resume(returning: "\($0)") }
        }
    }

    @Test func noByteMayComeBeforeTheFileIsReadyForTheLastBodyThatBegan() async throws {
        // The file is still being opened when both bodies begin.
        let isOpen = DispatchSemaphore(value: 0)
        _ = sink.open { _ in isOpen.wait() }
        let fullness = Recorder<Bool>()
        sink.onChange = { [unowned sink] in fullness.append(sink.isFull) }
        try sink.prepare(start(.start(nil)))
        try sink.prepare(start(.start(nil)))
        #expect(sink.isFull)
        isOpen.signal()
        #expect(try await fullness.wait(count: 2) == [true, false])
    }

    @Test(arguments: [
        (CocoaError(.fileWriteOutOfSpace) as any Error, true),
        (DownloadError.notEnoughSpace(URL(fileURLWithPath: "/"), needed: 2, available: 1), true),
        (DownloadError.tooLarge(URL(fileURLWithPath: "/"), length: 2), false),
        (CocoaError(.fileWriteUnknown), false),
        (URLError(.cancelled), false),
    ])
    func onlyALackOfRoomIsForgottenWhenTheUserContinues(error: any Error, isForgotten: Bool) {
        var shared = DownloadSink.Shared()
        shared.failure = error
        shared.proceed()
        #expect((shared.failure == nil) == isForgotten)
    }

    /// The disk fills up in a pause, while what came is brought there; then the user makes room.
    @Test(.enabled(if: SmallDisk.isPermitted, "may not mount"))
    func aLackOfRoomThatIsMetInAPauseIsOverWhenThereIsRoom() async throws {
        let disk = try SmallDisk()
        let url = try #require(URL(string: "http://example.com/file"))
        let plan = DownloadPlan(
            request: URLRequest(url: url),
            options: DownloadOptions(destination: disk.file("file"))
        )
        let sink = DownloadSink(plan, progress: progress)
        _ = try await withCheckedThrowingContinuation { continuation in
            _ = sink.open { continuation.resume(with: $0) }
        }
        let changes = Recorder<Bool>()
        sink.onChange = { changes.append(true) }
        try sink.prepare(start(.start(nil)))
        try await changes.wait()
        let other = disk.file("other")
        try Data().write(to: other)
        let handle = try FileHandle(forWritingTo: other)
        // As much as there is.
        while (try? handle.write(contentsOf: Data(count: 1024))) != nil {}
        try sink.write(Array("01234".utf8).span)
        sink.flush()
        try await changes.wait(count: 2)
        #expect((sink.failure as? CocoaError)?.code == .fileWriteOutOfSpace)
        // Other attempts find it as it is.
        #expect(throws: CocoaError.self) { try sink.prepare(start(.end)) }

        try handle.close()
        try FileManager.default.removeItem(at: other)
        sink.proceed()
        #expect(sink.failure == nil)
        let rest = "0123456789".dropFirst(Int(sink.count))
        try sink.prepare(start(.end))
        try await changes.wait(count: 3)
        try sink.write(Array(rest.utf8).span)
        let end = await withCheckedContinuation { continuation in
            _ = sink.end { continuation.resume(returning: "\($0)") }
        }
        #expect(end == "done(nil)")
        #expect(try String(contentsOf: disk.file("file"), encoding: .utf8) == "0123456789")
    }

    /// The server has another version, for which there is no room: the bytes of the one before stay, and so
    /// does what is known of them. The pause that comes just then makes the user's command forget the failure.
    @Test("S20", .enabled(if: SmallDisk.isPermitted, "may not mount"))
    func aVersionThatHasNoRoomIsNotJoinedWithTheOneBefore() async throws {
        let disk = try SmallDisk()
        let request = try Sample.request()
        let sink = DownloadSink(
            DownloadPlan(request: request, options: DownloadOptions(destination: disk.file("file"))),
            progress: progress
        )
        var resumption = Resumption(isAllowed: true)
        _ = try await withCheckedThrowingContinuation { continuation in
            _ = sink.open { continuation.resume(with: $0) }
        }
        let changes = Recorder<Bool>()
        sink.onChange = { changes.append(true) }
        /// Has an answer judged, as an exchange does, and the sink prepared for it.
        func take(_ status: Int, _ fields: HeaderFields) throws -> ResumeDecision {
            let head = ResponseHead(version: "HTTP/1.1", status: status, fields: fields)
            let decision = resumption.judge(head, held: sink.held, abilities: sink.abilities)
            let (place, total): (BodyStart.Place, Int64?) =
                switch decision {
                case .replace(let total, let reason): (.start(reason), total)
                case .append(let total): (.end, total)
                default: throw URLError(.badServerResponse)
                }
            let start = BodyStart(
                place: place,
                total: total,
                head: head,
                url: try #require(request.url),
                content: resumption.contentNumber
            )
            try sink.prepare(start)
            return decision
        }
        _ = resumption.ask(request, held: sink.held)
        _ = try take(200, ["ETag": "\"v1\"", "Content-Length": "40000"])
        try await changes.wait()
        try sink.write(Array("01234".utf8).span)
        sink.flush()

        let folder = try DownloadFolder(path: disk.file("").path)
        let part = try #require(try folder.open("file.part"))
        // What was allocated ahead is given back last.
        try await eventually { try part.status.allocated <= 8192 }
        let other = disk.file("other")
        try Data(count: SmallDisk.capacity / 2).write(to: other)
        #expect(resumption.ask(request, held: sink.held) == .rest(from: 5, ifRange: "\"v1\""))
        let digest = try FileDigest.of(Data("another".utf8), algorithm: .sha256)
        let changed: HeaderFields = [
            "ETag": "\"v2\"", "Content-Length": "40000", "Repr-Digest": "sha-256=:\(digest.base64):",
        ]
        #expect(try take(200, changed) == .replace(total: 40_000, because: .resourceChanged))
        try await changes.wait(count: 3)
        guard case .noRoomForBoth(_, 5, 40_000) = sink.failure as? DownloadError else {
            Issue.record("\(String(describing: sink.failure))")
            return
        }
        #expect(sink.held == StoredBytes(count: 5, content: 1))
        sink.proceed()
        #expect(sink.failure == nil)
        #expect(
            resumption.ask(request, held: sink.held, because: sink.demand)
                == .rest(from: 5, ifRange: "\"v1\"")
        )
        // It has the old one again, and has said nothing of its digest.
        try FileManager.default.removeItem(at: other)
        let rest: HeaderFields = [
            "ETag": "\"v1\"", "Content-Range": "bytes 5-39999/40000", "Content-Length": "39995",
        ]
        #expect(try take(206, rest) == .append(total: 40_000))
        try await changes.wait(count: 4)
        try sink.write([UInt8](repeating: UInt8(ascii: "5"), count: 39_995).span)
        let end = await withCheckedContinuation { continuation in
            _ = sink.end { continuation.resume(returning: "\($0)") }
        }
        #expect(end == "done(nil)")
        let text = try String(contentsOf: disk.file("file"), encoding: .utf8)
        #expect(text == "01234" + String(repeating: "5", count: 39_995))
        #expect(progress.withLock(\.restarts) == [])
    }

    @Test func theRestOfAnotherContentIsRefused() async throws {
        try await open()
        try await prepare(.start(nil))
        try write("01234")
        var rest = start(.end)
        rest.content = 1
        let changes = Recorder<Bool>()
        sink.onChange = { changes.append(true) }
        try sink.prepare(rest)
        try await changes.wait()
        guard case .partialFileReplaced = sink.failure as? DownloadError else {
            Issue.record("two contents were joined")
            return
        }
        #expect(sink.held == StoredBytes(count: 5))
    }

    @Test func aBodyThatStartsOverLeavesNothingOfTheOneBefore() async throws {
        try await open()
        try await prepare(.start(nil))
        try write("01234")
        try await prepare(.start(.resourceChanged))
        #expect(sink.count == 0)
        try write("abcdefghij")
        #expect(await end() == "done(nil)")
        #expect(try String(contentsOf: folder.file("file"), encoding: .utf8) == "abcdefghij")
        #expect(progress.withLock(\.restarts) == [.resourceChanged])
    }

    @Test func bytesThatAreComparedAreNotCounted() async throws {
        try await open()
        try await prepare(.start(nil))
        try write("01234")
        try await prepare(.again(from: 2))
        try write("23")
        #expect(sink.count == 5)
        try write("456789")
        #expect(sink.count == 10)
        #expect(await end() == "done(nil)")
        #expect(try String(contentsOf: folder.file("file"), encoding: .utf8) == "0123456789")
    }

    @Test func aDifferenceIsADemandThatLastsUntilTheWholeBegins() async throws {
        try await open()
        try await prepare(.start(nil))
        try write("01234")
        try await prepare(.again(from: 0))
        let demands = Recorder<RestartReason?>()
        sink.onChange = { [unowned sink] in demands.append(sink.demand) }
        try write("0123X56789")
        #expect(try await demands.wait().last == .overlapDiffers)
        #expect(sink.count == 5)
        try write("more")
        #expect(await end().hasPrefix("mustStartOver"))
        #expect(sink.demand == .overlapDiffers)
        try await prepare(.start(.overlapDiffers))
        #expect(sink.demand == nil && sink.count == 0)
    }

    @Test func aBodyThatEndsBeforeWhatIsThereDiffers() async throws {
        try await open()
        try await prepare(.start(nil))
        try write("01234")
        try await prepare(.again(from: 0))
        try write("012")
        _ = await end()
        #expect(sink.demand == .overlapDiffers)
        #expect(!FileManager.default.fileExists(atPath: folder.file("file").path))
    }

    @Test func whatIsAbandonedIsOnTheDisk() async throws {
        try await open()
        try await prepare(.start(nil))
        try write("01234")
        let stops = Recorder<Bool>()
        #expect(sink.abandon { stops.append(true) } == .stopping)
        try await stops.wait()
        #expect(try String(contentsOf: folder.file("file.part"), encoding: .utf8) == "01234")
        #expect(stops.elements.count == 1)
    }

    @Test func whatIsAbandonedWithoutItsBytesLeavesNothing() async throws {
        try await open()
        try await prepare(.start(nil))
        try write("01234")
        progress.withLock { $0.keepsPartialFile = false }
        let stops = Recorder<Bool>()
        _ = sink.abandon { stops.append(true) }
        try await stops.wait()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    }

    /// A cancel that comes while the file is being moved comes too late.
    @Test func aFileThatWasMovedIsASuccess() async throws {
        let server = try ScriptedServer([.respond(body: "four")])
        let operation = DownloadOperation(request: URLRequest(url: server.url), to: folder.file())
        let moved = folder.file("moved")
        operation.mover = { [weak operation] _, done in
            guard let operation, operation.beginMove() else { return done(.failure(URLError(.unknown))) }
            operation.cancel()
            // After the cancel has had its effect.
            NetworkThread.shared.perform { _ in done(.success(moved)) }
        }
        operation.start()
        _ = try await operation.value
        #expect(operation.isCancelled && operation.responseObject as? URL == moved)
    }
}
