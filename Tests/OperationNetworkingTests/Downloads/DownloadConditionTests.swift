import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// `downloadsOnlyIfChanged` and `startsOver`.
@Suite(.timeLimit(.minutes(1)))
struct DownloadConditionTests {
    private static let date = Date(timeIntervalSince1970: 1_700_000_000)

    private func representation(_ text: String, tag: String?, age: TimeInterval = 0) -> Representation {
        Representation(
            .text(text),
            entityTag: tag.map { .strong($0) },
            lastModified: Self.date.addingTimeInterval(-age)
        )
    }

    private func conditional(_ scene: DownloadScene) -> DownloadOperation {
        let operation = scene.operation()
        operation.downloadsOnlyIfChanged = true
        return operation
    }

    @Test("S30", arguments: ["v1", nil])
    func anUnchangedFileStays(tag: String?) async throws {
        let scene = try DownloadScene(serving: representation("one", tag: tag))
        let first = conditional(scene)
        #expect(try await scene.run(first).get() == scene.target)
        #expect(first.downloadedFile?.length == 3)
        #expect(!first.isUpToDate)
        let second = conditional(scene)
        #expect(try await scene.run(second).get() == scene.target)
        #expect(second.isUpToDate)
        #expect(second.downloadedFile == nil)
        #expect(second.response?.statusCode == 304)
        #expect(scene.names == ["file.bin"])
        let (asked, before) = (scene.server.requests[1], scene.server.requests[0])
        #expect(before["If-None-Match"] == nil && before["If-Modified-Since"] == nil)
        #expect(
            asked["If-None-Match"] == "\"v1\""
                || asked["If-Modified-Since"] == "Tue, 14 Nov 2023 22:13:20 GMT"
        )
    }

    @Test(arguments: ["v2", nil])
    func aChangedFileIsReplaced(tag: String?) async throws {
        let scene = try DownloadScene(serving: representation("one", tag: "v1", age: 60))
        _ = await scene.run(scene.operation())
        scene.server.setRepresentation(representation("other", tag: tag))
        let operation = conditional(scene)
        #expect(try await scene.run(operation).get() == scene.target)
        #expect(!operation.isUpToDate)
        #expect(try String(contentsOf: scene.target, encoding: .utf8) == "other")
    }

    @Test func aLocallyChangedFileIsFetchedWithoutACondition() async throws {
        let scene = try DownloadScene(serving: representation("one", tag: "v1"))
        _ = await scene.run(scene.operation())
        try Data("two".utf8).write(to: scene.target)
        let operation = conditional(scene)
        #expect(try await scene.run(operation).get() == scene.target)
        #expect(!operation.isUpToDate)
        #expect(scene.server.requests[1]["If-None-Match"] == nil)
        #expect(scene.server.requests[1]["If-Modified-Since"] == nil)
        #expect(try String(contentsOf: scene.target, encoding: .utf8) == "one")
    }

    /// A 304 is about the file that was there when it was asked for.
    @Test func aFileChangedDuringTheRequestIsNotUpToDate() async throws {
        let target = Locked<URL?>(nil)
        let changing = Answer.currentRepresentation.performing(after: .wire(0)) {
            guard let target = target.withLock({ $0 }) else { return }
            #expect(throws: Never.self) { try Data("two".utf8).write(to: target) }
        }
        let scene = try DownloadScene(
            serving: representation("one", tag: "v1"),
            answers: [.currentRepresentation, changing, .currentRepresentation]
        )
        _ = await scene.run(scene.operation())
        target.withLock { $0 = scene.target }
        let operation = conditional(scene)
        let result = await scene.run(operation)
        #expect(result.error as? DownloadError == .destinationExists(scene.target))
        #expect(operation.response?.statusCode == 304 && !operation.isUpToDate)
        #expect(try String(contentsOf: scene.target, encoding: .utf8) == "two")
        // The next one asks without a condition.
        let next = conditional(scene)
        _ = try await scene.run(next).get()
        #expect(try String(contentsOf: scene.target, encoding: .utf8) == "one")
    }

    @Test(arguments: ["one", "two"])
    func aFileWithoutItsDigestIsFetchedWithoutACondition(expected: String) async throws {
        let scene = try DownloadScene(serving: representation("one", tag: "v1"))
        _ = await scene.run(scene.operation())
        scene.server.setRepresentation(representation(expected, tag: "v1"))
        let operation = conditional(scene)
        operation.expectedDigests = [try FileDigest.of(Data(expected.utf8), algorithm: .sha256)]
        #expect(try await scene.run(operation).get() == scene.target)
        #expect(operation.isUpToDate == (expected == "one"))
        #expect(scene.server.requests[1]["If-None-Match"] == (expected == "one" ? "\"v1\"" : nil))
        #expect(try String(contentsOf: scene.target, encoding: .utf8) == expected)
    }

    @Test func theConditionDoesNotDiscardReceivedBytes() async throws {
        let scene = try DownloadScene(
            serving: representation("one", tag: "v1"),
            answers: [
                .currentRepresentation, .currentRepresentation.breaking(after: 4), .currentRepresentation,
            ]
        )
        _ = await scene.run(scene.operation())
        scene.server.setRepresentation(representation("0123456789", tag: "v2"))
        _ = await scene.run(conditional(scene))
        #expect(try String(contentsOf: scene.target, encoding: .utf8) == "one")
        let operation = conditional(scene)
        #expect(try await scene.run(operation).get() == scene.target)
        #expect(scene.server.requests[2]["Range"] == "bytes=4-")
        #expect(try String(contentsOf: scene.target, encoding: .utf8) == "0123456789")
    }

    /// The server's versions when a part of the second one is complete beside a file of the first.
    enum Now: String, CaseIterable, Sendable {
        case first = "one"
        case second = "two"
        case third = "six"
    }

    /// A part that is complete may be of a version that the server has no more.
    @Test("P7", arguments: Now.allCases, [false, true])
    func aCompletePartReplacesNothingUnasked(now: Now, isConditional: Bool) async throws {
        func version(_ version: Now) -> Representation {
            representation(version.rawValue, tag: version.rawValue)
        }
        func operation(_ scene: DownloadScene) -> DownloadOperation {
            let operation = scene.operation()
            operation.downloadsOnlyIfChanged = isConditional
            operation.replacesFile = !isConditional
            return operation
        }
        let scene = try DownloadScene(serving: version(.first))
        _ = try await scene.run(scene.operation()).get()
        scene.server.setRepresentation(version(.second))
        let interrupted = operation(scene)
        interrupted.whenComplete { throw TestFailure("It dies.") }
        _ = await scene.run(interrupted)
        #expect(try String(contentsOf: scene.part, encoding: .utf8) == "two")
        scene.server.setRepresentation(version(now))
        let last = operation(scene)
        _ = try await scene.run(last).get()
        #expect(try String(contentsOf: scene.target, encoding: .utf8) == now.rawValue)
        #expect(last.isUpToDate == (isConditional && now == .first))
        // A 304 to a question for the rest has the same asked for the whole (S31).
        #expect(scene.server.requests.count == (last.isUpToDate ? 4 : 3))
        let asked = try #require(scene.server.requests.dropFirst(2).first)
        #expect(asked["Range"] == "bytes=2-" && asked["If-Range"] == "\"two\"")
        #expect(last.response?.statusCode == (now == .second ? 206 : last.isUpToDate ? 304 : 200))
    }

    @Test func anUnrequested304IsAnError() async throws {
        let scene = try DownloadScene(answers: [.respond(304)])
        let operation = conditional(scene)
        let result = await scene.run(operation)
        #expect(throws: ResponseSerializationError.self) { try result.get() }
    }

    @Test(
        "S30",
        arguments: [["ETag": "\"v2\""], ["Content-Length": "77"]] as [FieldLines]
    )
    func a304ThatContradictsItselfIsNotBelieved(fields: FieldLines) async throws {
        let scene = try DownloadScene(
            serving: representation("one", tag: "v1"),
            answers: [.currentRepresentation, .respond(304, fields), .currentRepresentation]
        )
        _ = await scene.run(scene.operation())
        scene.server.setRepresentation(representation("other", tag: "v2"))
        let operation = conditional(scene)
        #expect(try await scene.run(operation).get() == scene.target)
        #expect(!operation.isUpToDate)
        #expect(try String(contentsOf: scene.target, encoding: .utf8) == "other")
        #expect(scene.server.requests.map { $0["If-None-Match"] } == [nil, "\"v1\"", nil])
    }

    /// Some servers send the length of the 304's own body.
    @Test func a304MayAnnounceAnEmptyBody() async throws {
        let scene = try DownloadScene(
            serving: representation("one", tag: "v1"),
            answers: [.currentRepresentation, .respond(304, ["Content-Length": "0"])]
        )
        _ = await scene.run(scene.operation())
        let operation = conditional(scene)
        #expect(try await scene.run(operation).get() == scene.target)
        #expect(operation.isUpToDate)
        #expect(scene.server.requests.map { $0["If-None-Match"] } == [nil, "\"v1\""])
    }

    @Test func a304AfterOneThatContradictedItselfIsAnError() async throws {
        let scene = try DownloadScene(
            serving: representation("one", tag: "v1"),
            answers: [.currentRepresentation, .respond(304, ["ETag": "\"v2\""]), .respond(304)]
        )
        _ = await scene.run(scene.operation())
        let operation = conditional(scene)
        let result = await scene.run(operation)
        #expect(throws: ResponseSerializationError.self) { try result.get() }
        #expect(!operation.isUpToDate)
        #expect(scene.server.requests.count == 3)
    }

    @Test func aChangeInTheSecondOfTheAnswerIsNotMissed() async throws {
        var old = Representation(.text("one"), lastModified: Self.date)
        old.date = Self.date
        let scene = try DownloadScene(serving: old)
        _ = await scene.run(scene.operation())
        var new = Representation(.text("two"), lastModified: Self.date)
        new.date = Self.date
        scene.server.setRepresentation(new)
        let operation = conditional(scene)
        #expect(try await scene.run(operation).get() == scene.target)
        #expect(scene.server.requests[1]["If-Modified-Since"] == nil)
        #expect(try String(contentsOf: scene.target, encoding: .utf8) == "two")
    }

    @Test func aLinkToAnUnchangedFileStays() async throws {
        let scene = try DownloadScene(serving: representation("one", tag: "v1"))
        _ = await scene.run(scene.operation())
        let file = scene.folder.file("moved")
        try FileManager.default.moveItem(at: scene.target, to: file)
        try FileManager.default.createSymbolicLink(at: scene.target, withDestinationURL: file)
        let operation = conditional(scene)
        #expect(try await scene.run(operation).get() == scene.target)
        #expect(operation.isUpToDate)
        #expect(scene.names == ["file.bin", "moved"])
        // What it leads to is not replaced, nor is it.
        scene.server.setRepresentation(representation("other", tag: "v2"))
        let result = await scene.run(conditional(scene))
        #expect(throws: DownloadError.destinationIsNotFile(scene.target)) { try result.get() }
        #expect(try String(contentsOf: file, encoding: .utf8) == "one")
        #expect(scene.names == ["file.bin", "moved"])
    }

    @Test func thePartialFileOfAnEarlierOperationCanBeIgnored() async throws {
        let scene = try DownloadScene(answers: [
            .currentRepresentation.breaking(after: 1000), .currentRepresentation,
        ])
        await scene.leave(1000)
        #expect(scene.names == ["file.bin.part", "file.bin.part.resume"])
        let operation = scene.operation()
        operation.startsOver = true
        #expect(try await scene.run(operation).get() == scene.target)
        #expect(scene.server.requests[1]["Range"] == nil)
        #expect(operation.downloadedFile?.bytesRecovered == 0)
        #expect(scene.names == ["file.bin"])
        #expect(scene.journal.reasons.elements.isEmpty)
    }

    @Test func aCopyHasBothSettings() throws {
        let scene = try DownloadScene()
        let operation = conditional(scene)
        operation.startsOver = true
        let copy = try #require(operation.copy() as? DownloadOperation)
        #expect(copy.downloadsOnlyIfChanged && copy.startsOver)
    }
}
