import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Servers that send the rest of a body without saying of which: the file of now, the file of then or an
/// error arrives, and never a mixture.
@Suite(.timeLimit(.minutes(1)))
struct UnnamedRestTests {
    enum Destination: CaseIterable, Sendable {
        case memory, file, stream, download
    }

    /// One run, with retries.
    struct Schedule: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let answers: [Answer]
        var isMixed = true
    }

    private static let body = PatternBody(seed: 1, length: 300_000)
    private static let otherBody = PatternBody(seed: 2, length: 300_000)
    private static let modified = Date(timeIntervalSince1970: 784_111_777)
    private static let tagged = Representation(.pattern(body), entityTag: .strong("v1"))
    private static let dated = Representation(.pattern(body), lastModified: modified)
    /// A server that knows `If-Range` and repeats nothing, and one that knows nothing of it.
    private static let silent = tagged.misbehaving(.sendsPartialEntityTag(nil))
    private static let other = Representation(
        .pattern(otherBody),
        entityTag: .strong("v2"),
        misbehaviors: [.ignoresIfRange, .sendsPartialEntityTag(nil)]
    )
    private static let otherDated = Representation(
        .pattern(otherBody),
        lastModified: modified + 60,
        misbehaviors: [.ignoresIfRange, .omitsPartialLastModified]
    )

    private static func cut(_ representation: Representation) -> Answer {
        .representation(representation).breaking(after: .body(100_000))
    }

    static let schedules = [
        Schedule(
            testDescription: "the same, without its tag",
            answers: [cut(tagged), .representation(silent)],
            isMixed: false
        ),
        Schedule(
            testDescription: "the same, without its date",
            answers: [cut(dated), .representation(dated.misbehaving(.omitsPartialLastModified))],
            isMixed: false
        ),
        Schedule(testDescription: "two servers", answers: [cut(tagged), .representation(other)]),
        Schedule(
            testDescription: "two servers with dates",
            answers: [cut(dated), .representation(otherDated)]
        ),
        Schedule(
            testDescription: "a short part of one, then of the other",
            answers: [
                cut(tagged), .representation(tagged.misbehaving(.shortensRange(to: 50_000))),
                .representation(other),
            ]
        ),
        Schedule(
            testDescription: "the overlap of one, then the rest of the other",
            answers: [
                cut(tagged), .representation(silent),
                .representation(silent).breaking(after: .body(100_000)), .representation(other),
            ]
        ),
    ]

    @Test(arguments: schedules, Destination.allCases)
    func retriesNeverMix(_ schedule: Schedule, _ destination: Destination) async throws {
        let server = try ScriptedServer(schedule.answers)
        let run = try Run(server.url, destination)
        let result = await run.end()
        try check(run, result, schedule.isMixed)
        guard !schedule.isMixed else { return }
        #expect(server.requests.map { $0["Range"] } == [nil, "bytes=100000-", "bytes=34464-"])
        // The rest and 64 KiB.
        #expect(run.operation.metrics?.bytesReceived == 365_536)
    }

    @Test(arguments: [false, true], Destination.allCases)
    func aMirrorWithoutValidatorsIsNotTrusted(hasDate: Bool, _ destination: Destination) async throws {
        let first = hasDate ? Self.dated : Self.tagged
        // The mirrors send the same date, perhaps because they were made at once.
        let second =
            hasDate
            ? Representation(.pattern(Self.otherBody), lastModified: Self.modified)
            : Representation(.pattern(Self.otherBody), misbehaviors: [.ignoresIfRange])
        let server = try ScriptedServer(routes: [
            "/": [.redirect(to: "/m1"), .redirect(to: "/m2")],
            "/m1": [Self.cut(first)],
            "/m2": [.representation(second)],
        ])
        let run = try Run(server.url, destination)
        try check(run, await run.end(), true)
    }

    @Test(arguments: [false, true], Destination.allCases)
    func aMirrorWithTheSameBytesContinues(hasDate: Bool, _ destination: Destination) async throws {
        let server = try ScriptedServer(routes: [
            "/": [.redirect(to: "/m1"), .redirect(to: "/m2")],
            "/m1": [Self.cut(hasDate ? Self.dated : Self.tagged)],
            "/m2": [.representation(hasDate ? Self.dated : Self.silent)],
        ])
        let run = try Run(server.url, destination)
        try check(run, await run.end(), false)
    }

    @Test(arguments: [false, true], Destination.allCases)
    func aPauseNeverMixes(isOther: Bool, _ destination: Destination) async throws {
        let gate = Gate()
        let server = try ScriptedServer([
            .representation(Self.tagged).held(after: .body(100_000), by: gate),
            .representation(isOther ? Self.other : Self.silent),
        ])
        let run = try Run(server.url, destination)
        let progress = Recorder<Int64>()
        run.operation.setDownloadProgress { _, total, _ in progress.append(total) }
        run.operation.start()
        _ = try await progress.wait()
        run.operation.pause()
        try await server.waitForOpenConnections(0)
        gate.open()
        run.operation.resume()
        try check(run, await run.value(), isOther)
    }

    @Test(arguments: [false, true])
    func aSecondProcessNeverMixes(isOther: Bool) async throws {
        let scene = try DownloadScene(answers: [
            .currentRepresentation.breaking(after: .body(100_000)), .currentRepresentation,
        ])
        await scene.leave(100_000)
        scene.server.setRepresentation(isOther ? Self.other : Self.silent)
        let second = scene.operation()
        _ = try await scene.run(second).get()
        #expect(try (isOther ? Self.otherBody : Self.body).firstDifference(fromFile: scene.target) == nil)
        #expect(second.downloadedFile?.proof == (isOther ? .length : .overlap))
        #expect(scene.journal.reasons.elements == (isOther ? [.overlapDiffers] : []))
    }

    /// A tag distinguishes versions of one resource (RFC 9110 section 8.8.1): nginx makes it of length and
    /// time. A date says even less.
    @Test("P17", arguments: [false, true], [(tagged, 100_000), (tagged, 299_999)])
    func aSecondProcessWithAnotherAddressNeverMixes(
        isOther: Bool,
        first: (representation: Representation, length: Int)
    ) async throws {
        let scene = try DownloadScene()
        var second = first.representation
        if isOther { second.body = .pattern(Self.otherBody) }
        let server = try ScriptedServer([
            .representation(first.representation).breaking(after: .body(first.length)),
            .representation(second),
        ])
        for query in ["one", "two"] {
            let request = URLRequest(url: try server.url(query: query))
            let operation = DownloadOperation(request: request, to: scene.target)
            operation.completionQueue = DispatchQueue(label: "callbacks")
            operation.retryPolicy = nil
            let result = await scene.run(operation)
            guard query == "two" else { continue }
            _ = try result.get()
            #expect(operation.downloadedFile?.proof == (isOther ? .length : .overlap))
        }
        #expect(try (isOther ? Self.otherBody : Self.body).firstDifference(fromFile: scene.target) == nil)
    }

    /// A script that forgets the status of a part.
    @Test(arguments: Destination.allCases)
    func aRestThatSaysItIsTheWholeIsNotTaken(_ destination: Destination) async throws {
        let rest = Answer.respond(
            200,
            ["ETag": "\"v1\"", "Content-Range": "bytes 100000-299999/300000"],
            body: .data(Self.body.data.suffix(200_000))
        )
        let server = try ScriptedServer([Self.cut(Self.tagged), rest, .representation(Self.tagged)])
        let run = try Run(server.url, destination)
        _ = try await run.end().get()
        #expect(try run.found() == Self.body.data)
    }

    /// A file that was joined on evidence stays so, whatever a later process gets.
    @Test func evidenceDoesNotBecomeAProofLater() async throws {
        let scene = try DownloadScene(answers: [.currentRepresentation.breaking(after: .body(100_000))])
        await scene.leave(100_000)
        scene.server.setRepresentation(Self.silent)
        await scene.leave(200_000)
        scene.server.setRepresentation(Self.tagged)
        await scene.leave(300_000)
        let last = scene.operation()
        _ = try await scene.run(last).get()
        #expect(try Self.body.firstDifference(fromFile: scene.target) == nil)
        #expect(last.downloadedFile?.proof == .overlap)
    }

    // MARK: - The whole again, under the same tag

    /// A stream skips the bytes that it has taken when the whole comes again, and compares the last 64 KiB of
    /// them. `length`: how many it had taken.
    @Test(arguments: [false, true], [100, 65_536, 100_000])
    func aWholeThatAStreamSkipsIsComparedFirst(isOther: Bool, length: Int) async throws {
        var second = Self.tagged
        if isOther {
            // It differs where the stream stopped, and nowhere else.
            var bytes = Self.body.data
            bytes[length - 1] ^= 1
            second.body = .data(bytes)
        }
        let first = Representation(
            .pattern(Self.body),
            entityTag: .strong("v1"),
            headers: ["Accept-Ranges": "none"],
            misbehaviors: [.ignoresRange]
        )
        let server = try ScriptedServer([
            .representation(first).breaking(after: .body(length)),
            .representation(second.misbehaving(.ignoresRange)),
        ])
        let run = try Run(server.url, .stream)
        let result = await run.end()
        guard isOther else {
            _ = try result.get()
            #expect(try run.found() == Self.body.data)
            return
        }
        #expect(throws: ResumeError.representationChanged) { try result.get() }
        #expect(try run.found() == Self.body.data.prefix(length))
    }

    // MARK: - Little at a time

    @Test(arguments: Destination.allCases)
    func oneByteAnAnswerIsNotARequestForEachByte(_ destination: Destination) async throws {
        let server = try ScriptedServer([
            Self.cut(Self.tagged), .representation(Self.tagged.misbehaving(.shortensRange(to: 1))),
        ])
        let run = try Run(server.url, destination)
        _ = try await run.end().get()
        #expect(try run.found() == Self.body.data)
        #expect(server.requests.count == 5)
        #expect(server.requests.last?["Range"] == nil)
    }

    @Test func oneByteAConnectionIsNotProgress() async throws {
        let server = try ScriptedServer([
            Self.cut(Self.tagged), .representation(Self.tagged).breaking(after: .body(1)),
        ])
        let run = try Run(server.url, .download)
        await #expect(throws: URLError.self) { try await run.end().get() }
        #expect(server.requests.count == 6)
    }

    // MARK: - What all of them share

    private struct Run {
        let operation: HTTPRequestOperation
        let destination: Destination
        let folder: TemporaryDirectory

        init(_ url: URL, _ destination: Destination) throws {
            folder = try TemporaryDirectory()
            let request = URLRequest(url: url)
            let place = folder.file("file")
            operation =
                destination == .download
                ? DownloadOperation(request: request, to: place) : HTTPRequestOperation(request: request)
            self.destination = destination
            operation.completionQueue = DispatchQueue(label: "callbacks")
            var policy = RetryPolicy(maximumRetries: 5)
            policy.initialDelay = 0.001
            operation.retryPolicy = policy
            if destination == .file { operation.outputFile = place }
            if destination == .stream { operation.outputStream = OutputStream(url: place, append: false) }
        }

        func end() async -> Result<(any Sendable)?, any Error> {
            operation.start()
            return await value()
        }

        func value() async -> Result<(any Sendable)?, any Error> {
            await Result(awaiting: { try await operation.value })
        }

        func found() throws -> Data? {
            destination == .memory ? operation.responseData : try Data(contentsOf: folder.file("file"))
        }
    }

    private func check(_ run: Run, _ result: Result<(any Sendable)?, any Error>, _ isOther: Bool) throws {
        switch result {
        case .success:
            #expect(!isOther || run.destination != .stream)
            #expect(try run.found() == (isOther ? Self.otherBody : Self.body).data)
            let proof = (run.operation as? DownloadOperation)?.downloadedFile?.proof
            #expect(run.destination != .download || proof == (isOther ? .length : .overlap))
        case .failure(let error):
            #expect(isOther && run.destination == .stream, "\(error)")
            #expect(error as? ResumeError == .representationChanged)
        }
    }
}
