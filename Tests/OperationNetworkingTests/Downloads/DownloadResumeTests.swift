import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// One operation gets a part of the file, and another one the rest: everything a server may do in between, and the
/// bytes that are there at the end.
@Suite(.timeLimit(.minutes(1)))
struct DownloadResumeTests {
    private static let body = DownloadScene.body
    private static let old = DownloadScene.old
    private static let otherBody = PatternBody(seed: 2, length: 300_000)
    private static let new = Representation(.pattern(otherBody), entityTag: .strong("v2"))
    private static let modified = Date(timeIntervalSince1970: 784_111_777)
    private static let dated = Representation(.pattern(body), lastModified: modified)
    private static let bare = Representation(.pattern(body))
    private static let weak = Representation(.pattern(body), entityTag: .weak("v1"))

    /// The finding of the second operation, and its reaction.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var first = old
        let second: Representation
        /// From where the file goes on; `nil`: it starts over.
        var kept: Int64? = 100_000
        var reason: RestartReason?
        /// `nil`: it depends on when the difference is found.
        var requestCount: Int? = 1
        var overlap: Int64?
    }

    private static func misbehaving(_ misbehavior: Representation.Misbehavior) -> Representation {
        old.misbehaving(misbehavior)
    }

    static let keepers: [Change] = [
        Change(testDescription: "P8, S1 a strong tag", second: old),
        Change(testDescription: "P9, S1 a strong date", first: dated, second: dated),
        // Every part ends seven bytes too early, too: after three that bring nothing, the whole is compared (S4).
        Change(
            testDescription: "S2 an overlap",
            second: misbehaving(.shiftsRange(by: -7)),
            requestCount: 5
        ),
        Change(
            testDescription: "S4 short parts",
            second: misbehaving(.shortensRange(to: 50_000)),
            requestCount: 4
        ),
        Change(testDescription: "S21 ranges ignored", second: misbehaving(.ignoresRange), requestCount: 2),
        Change(testDescription: "P10 a weak tag, compared", first: weak, second: weak, overlap: 1000),
        Change(testDescription: "P12 nothing, compared", first: bare, second: bare, overlap: 1000),
    ]

    static let restarts: [Change] = [
        Change(testDescription: "S20 another file", second: new, kept: nil, reason: .resourceChanged),
        Change(
            testDescription: "S20 another, shorter file",
            second: Representation(.pattern(PatternBody(seed: 3, length: 1000)), entityTag: .strong("v2")),
            kept: nil,
            reason: .resourceChanged,
            requestCount: 2
        ),
        Change(
            testDescription: "S20 another date",
            first: dated,
            second: Representation(.pattern(otherBody), lastModified: modified + 60),
            kept: nil,
            reason: .resourceChanged
        ),
        Change(
            testDescription: "S11 another file, If-Range ignored",
            second: new.misbehaving(.ignoresIfRange),
            kept: nil,
            reason: .resourceChanged,
            requestCount: 2
        ),
        Change(
            testDescription: "S2 an overlap of another file with the same tag",
            second: Representation(
                .pattern(otherBody),
                entityTag: .strong("v1"),
                misbehaviors: [.shiftsRange(by: -7)]
            ),
            kept: nil,
            reason: .overlapDiffers,
            requestCount: nil
        ),
        Change(
            testDescription: "S21 another file with the same tag, ranges ignored",
            second: Representation(
                .pattern(otherBody),
                entityTag: .strong("v1"),
                misbehaviors: [.ignoresRange]
            ),
            kept: nil,
            reason: .overlapDiffers,
            requestCount: 3
        ),
        Change(testDescription: "S3 a gap", second: misbehaving(.shiftsRange(by: 7)), requestCount: 3),
        Change(
            testDescription: "S5 another total",
            second: misbehaving(.misstatesTotal(300_001)),
            requestCount: 2
        ),
        Change(
            testDescription: "S7 no Content-Range",
            second: misbehaving(.sendsContentRange(nil)),
            requestCount: 2
        ),
        Change(testDescription: "S8 a part of parts", second: misbehaving(.sendsMultipart), requestCount: 2),
        Change(
            testDescription: "S10 nonsense for a Content-Range",
            second: misbehaving(.sendsContentRange("bytes 9-1/x")),
            requestCount: 2
        ),
        Change(
            testDescription: "S13 a content coding on a part",
            second: misbehaving(.sendsPartialContentCoding("gzip")),
            requestCount: 2
        ),
        Change(testDescription: "S37 ranges refused", second: misbehaving(.refusesRanges), requestCount: 2),
        Change(
            testDescription: "S22 no validator at all",
            first: bare,
            second: bare,
            kept: nil,
            reason: .validatorMissing
        ),
        Change(
            testDescription: "P10 a weak tag",
            first: weak,
            second: weak,
            kept: nil,
            reason: .validatorMissing
        ),
        Change(
            testDescription: "P12 nothing, compared, and another file",
            first: bare,
            second: Representation(.pattern(otherBody)),
            kept: nil,
            reason: .overlapDiffers,
            requestCount: 2,
            overlap: 1000
        ),
    ]

    @Test(arguments: keepers)
    func continuesWhereTheLastOneStopped(_ change: Change) async throws {
        try await check(change)
    }

    @Test(arguments: restarts)
    func isTheWholeFileAndNeverAMixture(_ change: Change) async throws {
        try await check(change)
    }

    private func check(_ change: Change) async throws {
        let scene = try DownloadScene(
            serving: change.first,
            answers: [.currentRepresentation.breaking(after: .body(100_000)), .currentRepresentation]
        )
        let first = scene.operation()
        await #expect(throws: URLError.self) { try await scene.run(first).get() }
        #expect(scene.names == ["file.bin.part", "file.bin.part.resume"])
        let sent = scene.server.bodyBytesSent

        scene.server.setRepresentation(change.second)
        let second = scene.operation()
        if let overlap = change.overlap { second.unprovenBytes = .compare(overlap: overlap) }
        _ = try await scene.run(second).get()

        #expect(try Data(contentsOf: scene.target) == change.second.body.data)
        #expect(scene.names == ["file.bin"])
        if let count = change.requestCount { #expect(scene.server.requests.count == 1 + count) }
        let download = try #require(second.downloadedFile)
        if let reason = change.reason {
            #expect(scene.journal.reasons.elements == [reason])
            #expect(download.restarts == [reason])
            #expect(download.bytesRecovered == 0)
        } else if scene.journal.reasons.elements.isEmpty {
            #expect(scene.journal.offsets.elements.first == change.kept)
            #expect(download.bytesRecovered == 100_000)
            if change.requestCount == 1, change.overlap == nil {
                #expect(scene.server.bodyBytesSent - sent <= 200_007)
            }
        }
    }

    /// A part that has every byte: the name was taken when it was complete.
    private func completePart() async throws -> DownloadScene {
        let gate = Gate()
        let scene = try DownloadScene(answers: [.currentRepresentation.held(after: .body(299_999), by: gate)])
        let first = scene.operation()
        first.start()
        try await gate.waitForArrivals()
        try Data("mine".utf8).write(to: scene.target)
        gate.open()
        await #expect(throws: DownloadError.destinationExists(scene.target)) { try await first.value }
        try FileManager.default.removeItem(at: scene.target)
        return scene
    }

    @Test("P7") func whatIsCompleteIsNotRequestedAgain() async throws {
        let scene = try await completePart()
        let second = scene.operation()
        let reported = try await progress(of: second, in: scene)
        #expect(scene.server.requests.count == 1)
        #expect(try Self.body.firstDifference(fromFile: scene.target) == nil)
        #expect(second.downloadedFile?.proof == .length)
        #expect(reported == Progress(closure: [300_000], updates: [300_000], offsets: [300_000]))
        #expect(second.metrics?.bytesKept == 300_000 && second.metrics?.bytesReceived == 0)
    }

    @Test("P7") func aBatchCountsWhatIsCompleteAlready() async throws {
        let gate = Gate()
        let scene = try DownloadScene(answers: [.currentRepresentation.held(after: .body(299_999), by: gate)])
        let manager = OperationManager()
        manager.completionQueue = DispatchQueue(label: "callbacks")
        let items = [DownloadItem(url: scene.server.url, destination: scene.target)]
        let first = try manager.downloads(items)
        try await gate.waitForArrivals()
        try Data("mine".utf8).write(to: scene.target)
        gate.open()
        #expect(await first.results().map(\.isSuccess) == [false])
        try FileManager.default.removeItem(at: scene.target)

        let batch = try manager.downloads(items)
        #expect(try await batch.results().map { try $0.get().length } == [300_000])
        #expect(batch.completedBytes == 300_000 && batch.totalBytes == 300_000)
        #expect(scene.server.requests.count == 1)
    }

    private struct Progress: Equatable {
        var closure: [Int64]
        var updates: [Int64]
        var offsets: [Int64]
    }

    /// Runs it to its end. What was reported of its progress: the progress closure's totals, those of its updates
    /// and the offsets of resumptions.
    private func progress(of operation: DownloadOperation, in scene: DownloadScene) async throws -> Progress {
        let totals = Recorder<Int64>()
        operation.setDownloadProgress { _, total, expected in
            totals.append(total)
            #expect(expected == 300_000)
        }
        let updates = operation.downloadUpdates
        _ = try await scene.run(operation).get()
        var last: [Int64] = []
        for await update in updates { last.append(update.bytes) }
        return Progress(
            closure: totals.elements,
            updates: last,
            offsets: scene.journal.offsets.elements
        )
    }

    @Test("S35") func aPartThatTurnsOutToBeCompleteIsConfirmed() async throws {
        let cut = Answer.currentRepresentation.chunked(isTerminated: false)
        let scene = try DownloadScene(answers: [cut, .currentRepresentation])
        _ = await scene.run(scene.operation())
        let reported = try await progress(of: scene.operation(), in: scene)
        #expect(try Self.body.firstDifference(fromFile: scene.target) == nil)
        #expect(scene.server.requests.map(\.method) == ["GET", "GET", "HEAD"])
        #expect(scene.server.bodyBytesSent == 300_000)
        #expect(reported == Progress(closure: [300_000], updates: [300_000], offsets: [300_000]))
    }

    /// What a 416 says is enough.
    @Test("S35") func aTagAndALengthInA416AreAConfirmation() async throws {
        let refusal = Answer.respond(416, ["Content-Range": "bytes */300000", "ETag": "\"v1\""], body: "")
        let cut = Answer.currentRepresentation.chunked(isTerminated: false)
        let scene = try DownloadScene(answers: [cut, refusal])
        _ = await scene.run(scene.operation())
        let second = scene.operation()
        _ = try await scene.run(second).get()
        #expect(try Self.body.firstDifference(fromFile: scene.target) == nil)
        #expect(scene.server.requests.map { $0["Range"] } == [nil, "bytes=300000-"])
        #expect(scene.server.bodyBytesSent == 300_000)
    }

    @Test("S23") func theBodyOfAnAnswerThatHasNothingNewIsNotFetched() async throws {
        let cut = Answer.currentRepresentation.chunked(isTerminated: false)
        let gate = Gate()
        let scene = try DownloadScene(
            serving: Self.old.misbehaving(.ignoresRange),
            answers: [cut, .currentRepresentation.held(after: .body(1), by: gate)]
        )
        _ = await scene.run(scene.operation())
        let second = scene.operation()
        _ = try await scene.run(second).get()
        gate.open()
        #expect(try Self.body.firstDifference(fromFile: scene.target) == nil)
        // It may have been the rest of a longer one.
        #expect(scene.server.requests.map(\.method) == ["GET", "GET", "HEAD"])
    }

    /// Scripts that serve ranges, and forget the status.
    @Test(
        "S28",
        arguments: [("\"v1\"", true), ("\"v2\"", true), (nil, true), ("\"v1\"", false), (nil, false)]
    )
    func aRestThatIsSentAs200DoesNotReplaceTheWhole(tag: String?, hasLength: Bool) async throws {
        let count = 100_000
        let fields: FieldLines = tag.map { ["ETag": $0] } ?? [:]
        let rest = Answer.respond(200, fields, body: .data(Data(Self.body.data.dropFirst(count))))
        let scene = try DownloadScene(answers: [
            .currentRepresentation.breaking(after: .body(count)),
            hasLength ? rest : rest.chunked(),
            // With the tag and without a length, the rest without If-Range, which is compared.
            hasLength || tag == nil ? .currentRepresentation : rest.chunked(),
            .currentRepresentation,
        ])
        await scene.leave(count)
        _ = try await scene.run(scene.operation()).get()
        #expect(try Self.body.firstDifference(fromFile: scene.target) == nil)
        #expect(scene.server.requests[1]["Range"] == "bytes=\(count)-")
        #expect(scene.server.requests.last?["Range"] == nil)
        #expect(scene.names == ["file.bin"])
    }

    /// A cache has kept the rest as if it were the whole.
    @Test("S28 again") func aRestThatComesAgainIsAnErrorAndWhatCameStays() async throws {
        let body = Data(Self.body.data.dropFirst(100_000))
        let rest = Answer.respond(200, ["ETag": "\"v1\""], body: .data(body))
        let scene = try DownloadScene(answers: [
            .currentRepresentation.breaking(after: .body(100_000)), rest, rest, .currentRepresentation,
        ])
        await scene.leave(100_000)
        let result = await scene.run(scene.operation())
        #expect(result.error is ResumeError)
        #expect(scene.names == ["file.bin.part", "file.bin.part.resume"])
        _ = try await scene.run(scene.operation()).get()
        #expect(scene.server.requests.last?["Range"] == "bytes=100000-")
        #expect(try Self.body.firstDifference(fromFile: scene.target) == nil)
    }

    @Test func aCheckpointIsEnoughToContinue() async throws {
        let scene = try DownloadScene(answers: [
            .currentRepresentation.breaking(after: .body(100_000)), .currentRepresentation,
        ])
        let digest = try FileDigest.of(Self.body.data, algorithm: .sha256)
        let first = scene.operation("file?version=1")
        first.expectedDigests = [digest]
        _ = await scene.run(first)

        #expect(throws: RequestSerializationError.invalidFieldValue(name: "X-Test")) {
            try DownloadOperation(resuming: scene.checkpoint, headers: ["X-Test": "a\r\nb"])
        }
        let second = try DownloadOperation(resuming: scene.checkpoint)
        #expect(second.request.url == scene.server.url(path: "file?version=1"))
        #expect(second.destination?.path == scene.target.path)
        second.completionQueue = DispatchQueue(label: "callbacks")
        _ = try await scene.run(second).get()
        #expect(scene.server.requests.last?["Range"] == "bytes=100000-")
        #expect(second.downloadedFile?.proof == .digest(digest))
    }

    @Test func anInvalidCheckpointIsAnError() throws {
        let scene = try DownloadScene()
        #expect(throws: DownloadError.checkpointUnreadable(scene.checkpoint)) {
            try DownloadOperation(resuming: scene.checkpoint)
        }
        try Data("rubbish".utf8).write(to: scene.checkpoint)
        #expect(throws: DownloadError.checkpointUnreadable(scene.checkpoint)) {
            try DownloadOperation(resuming: scene.checkpoint)
        }
    }

    /// The body is not in the checkpoint, and without it that would be another request.
    @Test("P15", arguments: [true, false])
    func aRequestWithABodyIsNotSentAgainWithoutIt(isStream: Bool) async throws {
        let scene = try DownloadScene(answers: [
            .respond(body: .pattern(Self.body)).breaking(after: .body(100_000))
        ])
        var request = URLRequest(url: scene.server.url)
        request.httpMethod = "POST"
        if isStream {
            request.httpBodyStream = InputStream(data: Data("order=1".utf8))
        } else {
            request.httpBody = Data("order=1".utf8)
        }
        let operation = DownloadOperation(request: request, to: scene.target)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.retryPolicy = nil
        _ = await scene.run(operation)
        #expect(scene.names == ["file.bin.part", "file.bin.part.resume"])
        #expect(throws: DownloadError.checkpointUnreadable(scene.checkpoint)) {
            try DownloadOperation(resuming: scene.checkpoint)
        }
        #expect(scene.server.requests.map(\.method) == ["POST"])
    }

    @Test("P16") func anotherRequestStartsOver() async throws {
        let scene = try DownloadScene(answers: [
            .currentRepresentation.breaking(after: .body(100_000)), .currentRepresentation,
        ])
        _ = await scene.run(scene.operation())
        var request = URLRequest(url: scene.server.url)
        request.setValue("de", forHTTPHeaderField: "Accept-Language")
        let second = DownloadOperation(request: request, to: scene.target)
        second.addObserver(scene.journal)
        second.completionQueue = DispatchQueue(label: "callbacks")
        _ = try await scene.run(second).get()
        #expect(scene.server.requests.last?["Range"] == nil)
        #expect(scene.journal.reasons.elements == [.requestChanged])
    }

    /// One server has two sites, and a file of one date for each.
    @Test("P16") func anotherSiteStartsOver() async throws {
        let scene = try DownloadScene(
            serving: Self.dated,
            answers: [.currentRepresentation.breaking(after: .body(100_000)), .currentRepresentation]
        )
        func operation(_ host: String) -> DownloadOperation {
            var request = URLRequest(url: scene.server.url)
            request.setValue(host, forHTTPHeaderField: "Host")
            let operation = DownloadOperation(request: request, to: scene.target)
            operation.retryPolicy = nil
            operation.completionQueue = DispatchQueue(label: "callbacks")
            operation.addObserver(scene.journal)
            return operation
        }
        _ = await scene.run(operation("a.example"))
        // What goes on by the checkpoint alone asks the same site.
        let resumed = try DownloadOperation(resuming: scene.checkpoint)
        #expect(resumed.request.value(forHTTPHeaderField: "Host") == "a.example")
        scene.server.setRepresentation(
            Representation(.pattern(Self.otherBody), lastModified: Self.modified)
        )
        _ = try await scene.run(operation("b.example")).get()
        #expect(scene.server.requests.map { $0["Host"] } == ["a.example", "b.example"])
        #expect(scene.server.requests.last?["Range"] == nil)
        #expect(scene.journal.reasons.elements == [.requestChanged])
        #expect(try Self.otherBody.firstDifference(fromFile: scene.target) == nil)
    }

    /// Where the server says that it selects by a field, and both variants have one date.
    @Test("P16", arguments: [true, false])
    func anotherUserAgentStartsOverUnlessTheUserChoseNone(isChosen: Bool) async throws {
        var representation = Self.dated
        representation.headers = ["Vary": "User-Agent"]
        let scene = try DownloadScene(
            serving: representation,
            answers: [.currentRepresentation.breaking(after: .body(100_000)), .currentRepresentation]
        )
        func operation(_ agent: String) -> DownloadOperation {
            var request = URLRequest(url: scene.server.url)
            request.setValue(agent, forHTTPHeaderField: "User-Agent")
            let operation = DownloadOperation(request: request, to: scene.target)
            operation.sendsOwnUserAgent = !isChosen
            operation.retryPolicy = nil
            operation.completionQueue = DispatchQueue(label: "callbacks")
            operation.addObserver(scene.journal)
            return operation
        }
        _ = await scene.run(operation("program/1"))
        _ = try await scene.run(operation("program/2")).get()
        #expect(scene.server.requests.map { $0["User-Agent"] } == ["program/1", "program/2"])
        #expect(scene.server.requests.last?["Range"] == (isChosen ? nil : "bytes=100000-"))
        #expect(scene.journal.reasons.elements == (isChosen ? [.requestChanged] : []))
    }

    /// A later operation does with the bytes as the first one says of them.
    @Test(
        arguments: [
            (old, RestartReason?.none), (dated, nil), (bare, .validatorMissing), (weak, .validatorMissing),
            (
                Representation(.pattern(body), entityTag: .strong("v1"), headers: ["Accept-Ranges": "none"]),
                .rangesRefused
            ),
            (Representation(.pattern(body), entityTag: .strong("v1"), contentCoding: "gzip"), .contentCoded),
            (
                Representation(.pattern(body), lastModified: modified, headers: ["Vary": "*"]),
                .validatorMissing
            ),
        ] as [(Representation, RestartReason?)]
    )
    func anUncontinuablePartIsKnownInAdvance(representation: Representation, reason: RestartReason?)
        async throws
    {
        let scene = try DownloadScene(
            serving: representation,
            answers: [.currentRepresentation.breaking(after: .body(100_000)), .currentRepresentation]
        )
        let first = scene.operation()
        #expect((try? await scene.run(first).get()) == nil)
        #expect(first.obstacle(toContinuing: 100_000) == reason)
        _ = try await scene.run(scene.operation()).get()
        #expect((scene.server.requests.last?["Range"] == nil) == (reason != nil))
    }

    /// A ramfs tells no time of birth: nothing could prove later whose part it is.
    @Test(.enabled(if: MountedDisk.isPermitted, "may not mount"))
    func aPartThatNothingCouldProveLaterIsNotKept() async throws {
        let scene = try DownloadScene(answers: [
            .currentRepresentation.breaking(after: .body(100_000)), .currentRepresentation,
        ])
        let path = scene.folder.url.path
        try #require(mount("none", path, "ramfs", 0, nil) == 0)
        defer { umount2(path, Int32(MNT_DETACH)) }
        let first = scene.operation()
        #expect((try? await scene.run(first).get()) == nil)
        #expect(first.obstacle(toContinuing: 100_000) == .checkpointUnproven)
        #expect(scene.names.isEmpty)
        _ = try await scene.run(scene.operation()).get()
        #expect(try Self.body.firstDifference(fromFile: scene.target) == nil)
    }

    @Test("B1") func aBrokenDownloadContinuesFromTheLastByte() async throws {
        let breaking = Answer.currentRepresentation.breaking(after: .body(50_000))
        let scene = try DownloadScene(answers: [
            breaking, breaking, breaking, breaking, breaking, .currentRepresentation,
        ])
        let operation = scene.operation()
        var policy = RetryPolicy(maximumRetries: 2)
        policy.initialDelay = 0.001
        operation.retryPolicy = policy
        _ = try await scene.run(operation).get()
        #expect(try Self.body.firstDifference(fromFile: scene.target) == nil)
        // Two in a row without a byte are what the policy limits.
        #expect(scene.server.requests.count == 6)
        #expect(scene.journal.offsets.elements == [50_000, 100_000, 150_000, 200_000, 250_000])
        #expect(scene.server.bodyBytesSent == 300_000)
    }
}
