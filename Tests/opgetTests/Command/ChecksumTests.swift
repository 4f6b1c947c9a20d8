import Foundation
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import opget

@Suite(.serialized) struct ChecksumTests {
    private let opget: Opget
    private let digest: FileDigest
    private let wrong = String(repeating: "0", count: 64)

    init() throws {
        opget = try Opget()
        digest = try FileDigest.of(Data("0123456789".utf8), algorithm: .sha256)
    }

    private func address(_ server: ScriptedServer, _ path: String = "a") -> String {
        server.url(path: path).absoluteString
    }

    @Test func aFileThatIsWhatItHasToBeIsSaved() async throws {
        let server = try ScriptedServer([.respond(200, body: "0123456789")])
        let result = try await opget("--json", "--checksum", "sha-256=\(digest.hex)", address(server))
        #expect(result.code == 0)
        #expect(try opget.files() == ["a"])
        #expect(result.errorLines.last?.hasSuffix(", verified sha256") == true)
        #expect(result.output.contains("\"proof\":\"digest\""))
        #expect(result.output.contains("\"digest\":\"sha256:\(digest.hex)\""))
    }

    @Test func aFileWithAWrongChecksumIsFetchedTwiceAndThenDiscarded() async throws {
        let server = try ScriptedServer([.respond(200, body: "0123456789")])
        let result = try await opget("--json", "--checksum", wrong, address(server))
        #expect(result.code == 9)
        #expect(server.requests.count == 2)
        #expect(try opget.files() == [])
        #expect(result.output.contains("\"errorClass\":\"checksum\""))
        #expect(result.output.contains("\"reason\":\"digestMismatch\""))
        #expect(result.errors.contains(digest.hex))
    }

    @Test func aFileThatIsThereAlreadyIsCheckedToo() async throws {
        let server = try ScriptedServer([.respond(200, body: "0123456789")])
        try opget.write("0123456789", "a")
        let good = try await opget("--checksum", digest.hex, address(server))
        #expect(good.code == 0)
        #expect(good.errors == "a: already there (10 B), verified sha256\n")
        let bad = try await opget("--checksum", wrong, address(server))
        #expect(bad.code == 9)
        #expect(bad.errors.contains("--overwrite replaces it"))
        #expect(try opget.text("a") == "0123456789")
        #expect(server.requests.isEmpty)
    }

    @Test func aListOfChecksumsIsForManyFiles() async throws {
        let server = try ScriptedServer([.respond(200, body: "0123456789")])
        try opget.write("\(digest.hex)  a\n\(wrong) *b\n", "SHA256SUMS")
        let result = try await opget("--checksums", "SHA256SUMS", address(server), address(server, "b"))
        #expect(result.code == 9)
        #expect(try opget.files() == ["SHA256SUMS", "a"])
        #expect(result.errors.contains("b: started over because the checksum was wrong"))
    }

    @Test func aFileThatIsNotInTheListIsRefusedBeforeAnythingIsFetched() async throws {
        let server = try ScriptedServer([.respond(200, body: "0123456789")])
        try opget.write("\(digest.hex)  a\n", "SHA256SUMS")
        let result = try await opget("--checksums", "SHA256SUMS", address(server), address(server, "b"))
        #expect(result.code == 2)
        #expect(result.errorLines == ["opget: \(address(server, "b")): SHA256SUMS has no checksum for b."])
        #expect(server.requests.isEmpty)
        #expect(try await opget("--checksums", "none", address(server)).code == 3)
    }

    @Test func aListOfAddressesHasChecksums() async throws {
        let server = try ScriptedServer([.respond(200, body: "0123456789")])
        let list =
            "\(address(server))\n  checksum=sha256:\(digest.hex)\n\(address(server, "b"))\n checksum=\(wrong)\n"
        let result = try await opget("-i", "-", input: list)
        #expect(result.code == 9)
        #expect(try opget.files() == ["a"])
    }

    @Test func aChecksumHoldsForAFileThatCameInTwoRuns() async throws {
        let server = try ScriptedServer(
            serving: Representation("0123456789", entityTag: .strong("v1")),
            answers: [.currentRepresentation.breaking(after: 4), .currentRepresentation]
        )
        #expect(try await opget("--retry", "0", address(server)).code == 4)
        let result = try await opget("--checksum", digest.hex, address(server))
        #expect(result.code == 0)
        #expect(server.requests[1]["Range"] == "bytes=4-")
        #expect(result.errorLines.last?.hasSuffix(", resumed at 4 B, verified sha256") == true)
    }

    @Test func aServersOwnDigestIsCheckedWithoutBeingAsked() async throws {
        let field = "sha-256=:\(digest.base64):"
        let server = try ScriptedServer([
            .respond(200, ["Repr-Digest": .init(stringLiteral: field)], body: "0123456789")
        ])
        let result = try await opget(address(server))
        #expect(result.code == 0)
        #expect(result.errorLines.last?.hasSuffix(", verified sha256") == true)
    }

    @Test func aDeviceHasNoChecksum() async throws {
        let server = try ScriptedServer([.respond(200, body: "0123456789")])
        let result = try await opget("-o", "/dev/null", "--checksum", digest.hex, address(server))
        #expect(result.code == 2)
        #expect(server.requests.isEmpty)
    }
}
