import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Leftovers of another request beside the target, and answers that are no file: nothing of either may get
/// the name.
@Suite(.timeLimit(.minutes(1)))
struct DownloadAttackTests {
    private static let body = DownloadScene.body
    private static let otherBody = PatternBody(seed: 2, length: 300_000)

    /// Leaves all bytes of a body in a partial file: the name was taken when they had come.
    private func leaveComplete(_ scene: DownloadScene, _ request: URLRequest, _ gate: Gate) async throws {
        let operation = scene.operation()
        let first = DownloadOperation(request: request, to: scene.target)
        first.retryPolicy = nil
        first.completionQueue = operation.completionQueue
        first.start()
        try await gate.waitForArrivals()
        try Data("mine".utf8).write(to: scene.target)
        gate.open()
        await #expect(throws: DownloadError.destinationExists(scene.target)) { try await first.value }
        try FileManager.default.removeItem(at: scene.target)
        #expect(scene.exists(scene.part))
    }

    // MARK: - What another request left

    @Test("P16, P7") func aRangeOfTheCallersIsNotTakenForTheFile() async throws {
        let gate = Gate()
        let scene = try DownloadScene(answers: [
            .currentRepresentation.held(after: .body(99), by: gate), .currentRepresentation,
        ])
        var request = URLRequest(url: scene.server.url)
        request.setValue("bytes=1000-1099", forHTTPHeaderField: "Range")
        try await leaveComplete(scene, request, gate)

        _ = try await scene.run(scene.operation()).get()
        #expect(try Self.body.firstDifference(fromFile: scene.target) == nil)
        #expect(scene.journal.reasons.elements == [.requestChanged])
    }

    @Test("P16") func nothingIsJoinedToARangeOfTheCallers() async throws {
        let scene = try DownloadScene(answers: [
            .currentRepresentation.chunked().breaking(after: .body(100)), .currentRepresentation,
        ])
        var request = URLRequest(url: scene.server.url)
        request.setValue("bytes=1000-", forHTTPHeaderField: "Range")
        let first = DownloadOperation(request: request, to: scene.target)
        first.retryPolicy = nil
        _ = await scene.run(first)

        _ = try await scene.run(scene.operation()).get()
        #expect(try Self.body.firstDifference(fromFile: scene.target) == nil)
    }

    @Test func aCheckpointKnowsTheRangeOfTheCallers() async throws {
        let scene = try DownloadScene(answers: [.currentRepresentation.breaking(after: .body(50))])
        var request = URLRequest(url: scene.server.url)
        request.setValue("bytes=1000-1099", forHTTPHeaderField: "Range")
        let first = DownloadOperation(request: request, to: scene.target)
        first.retryPolicy = nil
        _ = await scene.run(first)
        let second = try DownloadOperation(resuming: scene.checkpoint)
        #expect(second.request.value(forHTTPHeaderField: "Range") == "bytes=1000-1099")
    }

    @Test("P17, P7") func aCompleteFileOfAnotherAddressIsNotTakenUnasked() async throws {
        let gate = Gate()
        let scene = try DownloadScene()
        let server = try ScriptedServer([
            .representation(DownloadScene.old).held(after: .body(299_999), by: gate),
            .representation(Representation(.pattern(Self.otherBody), entityTag: .strong("other"))),
        ])
        try await leaveComplete(scene, URLRequest(url: try server.url(query: "one")), gate)

        let request = URLRequest(url: try server.url(query: "two"))
        let second = DownloadOperation(request: request, to: scene.target)
        second.retryPolicy = nil
        second.completionQueue = DispatchQueue(label: "callbacks")
        _ = try await scene.run(second).get()
        #expect(try Self.otherBody.firstDifference(fromFile: scene.target) == nil)
    }

    @Test("P17, P7") func aCompleteFileThatHasMovedCostsAComparison() async throws {
        let gate = Gate()
        let scene = try DownloadScene()
        let server = try ScriptedServer([
            .representation(DownloadScene.old).held(after: .body(299_999), by: gate),
            .representation(DownloadScene.old),
        ])
        try await leaveComplete(scene, URLRequest(url: try server.url(query: "one")), gate)

        let request = URLRequest(url: try server.url(query: "two"))
        let second = DownloadOperation(request: request, to: scene.target)
        second.retryPolicy = nil
        second.completionQueue = DispatchQueue(label: "callbacks")
        _ = try await scene.run(second).get()
        #expect(try Self.body.firstDifference(fromFile: scene.target) == nil)
        #expect(server.requests.last?["Range"] == "bytes=234463-")
        #expect(server.bodyBytesSent < 400_000)
        #expect(second.downloadedFile?.proof == .overlap)
    }

    // MARK: - Answers that are no file

    @Test("S32, S44", arguments: [201, 202, 204, 205, 207, 208, 226])
    func successWithoutTheFileReplacesNothing(_ status: Int) async throws {
        let scene = try DownloadScene(answers: [
            .respond(status, body: [204, 205].contains(status) ? "" : "accepted")
        ])
        try Data("mine".utf8).write(to: scene.target)
        let operation = scene.operation()
        operation.replacesFile = true
        await #expect(throws: ResumeError.unexpectedStatus(status)) { try await scene.run(operation).get() }
        #expect(try Data(contentsOf: scene.target) == Data("mine".utf8))
        #expect(scene.names == ["file.bin"])
    }

    /// RFC 9110 §15: a status that is not known counts as the x00 of its class, and needs a length here.
    @Test("S32", arguments: [true, false]) func anUnknownSuccessIsAFileIfItHasALength(hasLength: Bool)
        async throws
    {
        let answer = Answer.respond(299, body: "0123456789")
        let scene = try DownloadScene(answers: [hasLength ? answer : answer.chunked()])
        let end = await scene.run(scene.operation())
        if hasLength {
            _ = try end.get()
            #expect(try Data(contentsOf: scene.target) == Data("0123456789".utf8))
        } else {
            #expect(throws: ResumeError.unexpectedStatus(299)) { try end.get() }
            #expect(scene.names == [])
        }
    }

    @Test("S32", arguments: [202, 204])
    func successWithoutTheFileKeepsWhatIsThere(_ status: Int) async throws {
        let scene = try DownloadScene(
            serving: Representation(.pattern(Self.body)),
            answers: [.currentRepresentation.breaking(after: .body(100_000)), .respond(status)]
        )
        await scene.leave(100_000)
        await #expect(throws: ResumeError.unexpectedStatus(status)) {
            try await scene.run(scene.operation()).get()
        }
        #expect(try Data(contentsOf: scene.part).count == 100_000)
    }

    @Test func whatHasNotChangedIsLeftAlone() async throws {
        let scene = try DownloadScene()
        try Data("mine".utf8).write(to: scene.target)
        var request = URLRequest(url: scene.server.url)
        request.setValue("\"v1\"", forHTTPHeaderField: "If-None-Match")
        let operation = DownloadOperation(request: request, to: scene.target)
        operation.replacesFile = true
        operation.completionQueue = DispatchQueue(label: "callbacks")
        await #expect(throws: ResponseSerializationError.self) { try await scene.run(operation).get() }
        #expect(operation.response?.statusCode == 304)
        #expect(try Data(contentsOf: scene.target) == Data("mine".utf8))
        #expect(scene.names == ["file.bin"])
    }

    @Test("S31") func whatHasNotChangedKeepsThePartialFile() async throws {
        let scene = try DownloadScene(answers: [
            .currentRepresentation.breaking(after: .body(100_000)), .respond(304), .respond(304),
            .currentRepresentation,
        ])
        await scene.leave(100_000)
        var request = URLRequest(url: scene.server.url)
        request.setValue("\"v1\"", forHTTPHeaderField: "If-None-Match")
        let second = DownloadOperation(request: request, to: scene.target)
        second.completionQueue = DispatchQueue(label: "callbacks")
        await #expect(throws: ResponseSerializationError.self) { try await scene.run(second).get() }
        #expect(try Data(contentsOf: scene.part).count == 100_000)
        let third = scene.operation()
        _ = try await scene.run(third).get()
        #expect(third.downloadedFile?.bytesRecovered == 100_000)
        #expect(try Self.body.firstDifference(fromFile: scene.target) == nil)
    }

    @Test("B3") func aPartThatIsLongerThanItSaidIsAnError() async throws {
        let long = Self.body.data.suffix(200_000) + Data("more".utf8)
        let scene = try DownloadScene(answers: [
            .currentRepresentation.breaking(after: .body(100_000)),
            .respond(
                206,
                ["ETag": "\"v1\"", "Content-Range": "bytes 100000-299999/300000"],
                body: .data(long)
            ).chunked(),
            .currentRepresentation,
        ])
        await scene.leave(100_000)
        await #expect(throws: (any Error).self) { try await scene.run(scene.operation()).get() }
        #expect(!scene.exists(scene.target))
        _ = try await scene.run(scene.operation()).get()
        #expect(try Self.body.firstDifference(fromFile: scene.target) == nil)
        #expect(scene.names == ["file.bin"])
    }

    @Test("B3", arguments: [true, false])
    func aRestInMemoryIsNoLongerThanItSaid(_ isTooLong: Bool) async throws {
        let rest = Self.body.data.suffix(200_000) + Data((isTooLong ? "more" : "").utf8)
        let server = try ScriptedServer(
            serving: DownloadScene.old,
            answers: [
                .currentRepresentation.breaking(after: .body(100_000)),
                .respond(
                    206,
                    ["ETag": "\"v1\"", "Content-Range": "bytes 100000-299999/300000"],
                    body: .data(rest)
                ).chunked(),
            ]
        )
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        var policy = RetryPolicy(maximumRetries: 1)
        policy.initialDelay = 0.001
        operation.retryPolicy = policy
        operation.start()
        guard isTooLong else {
            #expect(try await operation.value as? Data == Self.body.data)
            return
        }
        let error = await #expect(throws: URLError.self) { try await operation.value }
        #expect(error?.code == .badServerResponse)
    }

    // MARK: - Another question

    @Test("B10") func aWrongDigestIsFetchedOnceMoreWhateverComesBetween() async throws {
        let wrong = Representation(.pattern(Self.otherBody), entityTag: .strong("v1"))
        let scene = try DownloadScene(answers: [
            .representation(wrong), .respond(503), .hangUp, .currentRepresentation,
        ])
        let operation = scene.operation()
        operation.expectedDigests = [try FileDigest.of(Self.body.data, algorithm: .sha256)]
        var policy = RetryPolicy(maximumRetries: 3)
        policy.initialDelay = 0.001
        operation.retryPolicy = policy
        _ = try await scene.run(operation).get()
        #expect(try Self.body.firstDifference(fromFile: scene.target) == nil)
        #expect(operation.downloadedFile?.restarts == [.digestMismatch])
        #expect(scene.server.requests.map { $0["Range"] } == [nil, nil, nil, nil])
    }

    /// Starting over counts as a try; what brings bytes after that does not.
    @Test func attemptsThatBringBytesAfterARestartDoNotCountEither() async throws {
        let new = Representation(.pattern(Self.otherBody), entityTag: .strong("v2"))
        let piece = Answer.representation(new).breaking(after: .body(50_000))
        let scene = try DownloadScene(answers: [
            .currentRepresentation.breaking(after: .body(200_000)), piece, piece, piece, .representation(new),
        ])
        let operation = scene.operation()
        var policy = RetryPolicy(maximumRetries: 2)
        policy.initialDelay = 0.001
        operation.retryPolicy = policy
        _ = try await scene.run(operation).get()
        #expect(try Self.otherBody.firstDifference(fromFile: scene.target) == nil)
    }

    @Test("S42") func anotherOriginDoesNotGetTheCredentials() async throws {
        let scene = try DownloadScene(answers: [.respond(403, body: "expired")])
        let other = try ScriptedServer([.representation(DownloadScene.old)])
        var request = URLRequest(url: scene.server.url)
        request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
        request.setValue("de", forHTTPHeaderField: "Accept-Language")
        let operation = DownloadOperation(request: request, to: scene.target)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.setRefreshURL { _, _ in other.url }
        _ = try await scene.run(operation).get()
        #expect(scene.server.requests.last?["Authorization"] == "Bearer secret")
        #expect(other.requests.last?["Authorization"] == nil)
        #expect(other.requests.last?["Accept-Language"] == "de")
    }
}
