import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct DownloadDigestTests {
    private static let text = Data("The quick brown fox jumps over the lazy dog".utf8)
    private static let sha256 = "d7a8fbb307d7809469ca9abcb0082e4f8d5651e46d3cdb762d02d0bf37c9e592"
    private static let md5 = "9e107d9d372bb6826bd81d3542a419d6"
    private static let right = try? FileDigest(text: "sha-256=\(sha256)")
    private static let oneRetry = {
        var policy = RetryPolicy(maximumRetries: 1)
        policy.initialDelay = 0.001
        return policy
    }()
    private static let wrong = try? FileDigest(text: "sha-256=\(String(repeating: "0", count: 64))")

    private func scene(
        _ fields: FieldLines = [:],
        answers: [Answer] = [.currentRepresentation]
    ) throws -> DownloadScene {
        try DownloadScene(
            serving: Representation(.data(Self.text), entityTag: .strong("v1"), headers: fields),
            answers: answers
        )
    }

    @Test func theRightDigestIsTheProof() async throws {
        let scene = try scene()
        let operation = scene.operation()
        let right = try #require(Self.right)
        operation.expectedDigests = [right]
        _ = try await scene.run(operation).get()
        #expect(operation.downloadedFile?.proof == .digest(right))
        #expect(operation.downloadedFile?.digests == [right])
        #expect(try Data(contentsOf: scene.target) == Self.text)
    }

    @Test("B10") func aWrongOneIsTriedOnceMoreAndNeverLeavesAFile() async throws {
        let scene = try scene()
        let operation = scene.operation()
        operation.retryPolicy = Self.oneRetry
        let (right, wrong) = (try #require(Self.right), try #require(Self.wrong))
        operation.expectedDigests = [wrong]
        await #expect(throws: DownloadError.digestMismatch(scene.target, expected: wrong, actual: right)) {
            try await scene.run(operation).get()
        }
        #expect(scene.names.isEmpty)
        #expect(scene.server.requests.count == 2)
        #expect(scene.server.requests.allSatisfy { $0["Range"] == nil })
        #expect(scene.journal.reasons.elements == [.digestMismatch])
    }

    @Test("B10") func aFileThatIsRightTheSecondTimeIsSaved() async throws {
        let scene = try scene(answers: [
            .respond(200, ["ETag": "\"v1\""], body: "The quick brown fox jumps over the lazy cat"),
            .currentRepresentation,
        ])
        let operation = scene.operation()
        operation.retryPolicy = Self.oneRetry
        operation.expectedDigests = [try #require(Self.right)]
        _ = try await scene.run(operation).get()
        #expect(try Data(contentsOf: scene.target) == Self.text)
        #expect(operation.downloadedFile?.restarts == [.digestMismatch])
    }

    @Test func allExpectedDigestsHaveToMatch() async throws {
        let scene = try scene()
        let operation = scene.operation()
        operation.expectedDigests = [
            try #require(Self.right), try FileDigest(text: "md5=\(String(repeating: "0", count: 32))"),
        ]
        await #expect(throws: DownloadError.self) { try await scene.run(operation).get() }
        #expect(scene.names.isEmpty)
    }

    @Test(
        "RFC 9530, RFC 3230, RFC 1864: the server's digests are verified",
        arguments: [
            ("Repr-Digest", "sha-256=:\(base64):"), ("Content-Digest", "sha-256=:\(base64):"),
            ("Digest", "SHA-256=\(base64)"), ("Content-MD5", "nhB9nTcrtoJr2B01QqQZ1g=="),
        ]
    )
    func theServersDigestIsAProof(_ name: String, _ value: String) async throws {
        var fields: FieldLines = [:]
        fields.append(name, value)
        let scene = try scene(fields)
        let operation = scene.operation()
        _ = try await scene.run(operation).get()
        let expected = try FileDigest(
            text: name == "Content-MD5" ? "md5=\(Self.md5)" : "sha-256=\(Self.sha256)"
        )
        #expect(operation.downloadedFile?.proof == .digest(expected))

        fields = [:]
        fields.append(
            name,
            value.replacingOccurrences(of: "n", with: "m").replacingOccurrences(of: "1", with: "2")
        )
        let other = try self.scene(fields)
        await #expect(throws: DownloadError.self) { try await other.run(other.operation()).get() }
        #expect(other.names.isEmpty)
    }

    private static let base64 = "16j7swfXgJRpypq8sAguT41WUeRtPNt2LQLQvzfJ5ZI="

    @Test func theDigestOfAResumedFileIsThatOfTheWhole() async throws {
        let scene = try DownloadScene(answers: [
            .currentRepresentation.breaking(after: .body(100_000)), .currentRepresentation,
        ])
        let digest = try FileDigest.of(DownloadScene.body.data, algorithm: .sha512)
        for _ in 0..<2 {
            let operation = scene.operation()
            operation.expectedDigests = [digest]
            operation.wantedDigests = [.md5]
            let result = await scene.run(operation)
            guard case .success = result else { continue }
            #expect(operation.downloadedFile?.proof == .digest(digest))
            #expect(operation.downloadedFile?.digests.map(\.algorithm) == [.sha512, .md5])
            #expect(operation.downloadedFile?.bytesRecovered == 100_000)
        }
        #expect(scene.names == ["file.bin"])
    }

    /// The checkpoint has digests of the last bytes only; the whole's was computed from the bytes as they came.
    @Test("P6") func bytesThatAnotherProgramChangedInAPauseAreNotTakenForThoseThatCame() async throws {
        let gate = Gate()
        let scene = try DownloadScene(answers: [
            .currentRepresentation.held(after: .body(200_000), by: gate), .currentRepresentation,
        ])
        let digest = try FileDigest.of(DownloadScene.body.data, algorithm: .sha256)
        let operation = scene.operation()
        operation.retryPolicy = Self.oneRetry
        operation.expectedDigests = [digest]
        operation.start()
        try await gate.waitForArrivals()
        try await eventually { (try? Data(contentsOf: scene.part))?.count == 200_000 }
        operation.pause()
        try await eventually {
            (try? String(contentsOf: scene.checkpoint, encoding: .utf8))?.contains("isAtRest") == true
        }
        await #expect(throws: DownloadError.inUse(scene.target)) {
            try await scene.run(scene.operation()).get()
        }
        let handle = try FileHandle(forUpdating: scene.part)
        try handle.write(contentsOf: Data("X".utf8))
        try handle.close()
        gate.open()
        operation.resume()
        _ = try await operation.value
        #expect(operation.downloadedFile?.proof == .digest(digest))
        #expect(operation.downloadedFile?.restarts == [.digestMismatch])
        #expect(try DownloadScene.body.firstDifference(fromFile: scene.target) == nil)
    }

    @Test func aDigestSentBeforeTheConnectionBrokeAppliesToTheRest() async throws {
        let scene = try scene(
            ["Content-MD5": "AAAAAAAAAAAAAAAAAAAAAA=="],
            answers: [.currentRepresentation.breaking(after: .body(10)), .currentRepresentation]
        )
        _ = await scene.run(scene.operation())
        // The 206 does not repeat it, since it would be of the part.
        await #expect(throws: DownloadError.self) { try await scene.run(scene.operation()).get() }
        #expect(!scene.exists(scene.target))
    }

    @Test("S24") func bytesOfAnUnrequestedCodingAreKeptUnchanged() async throws {
        let coded = try #require(Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJBwCGphA2BQAAAA=="))
        let digest = try FileDigest.of(coded, algorithm: .sha256)
        let scene = try scene()
        var fields: FieldLines = ["Content-MD5": "AAAAAAAAAAAAAAAAAAAAAA=="]
        fields.append("Repr-Digest", "sha-256=:\(digest.base64):")
        scene.server.setRepresentation(Representation(.data(coded), contentCoding: "gzip", headers: fields))
        let operation = scene.operation()
        _ = try await scene.run(operation).get()
        #expect(try Data(contentsOf: scene.target) == coded)
        #expect(operation.downloadedFile?.proof == .digest(digest))
    }
}
