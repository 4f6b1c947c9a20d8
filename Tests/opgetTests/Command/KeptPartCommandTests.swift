import Foundation
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import opget

/// What a run has kept is lost to no answer but the complete file.
@Suite(.serialized) struct KeptPartCommandTests {
    private let opget: Opget
    private let body = String(repeating: "0123456789", count: 30_000)
    private static let page = "<html><body>Please sign in to use this network.</body></html>\n"
    private static let signIn = Answer.respond(200, ["Content-Type": "text/html"], body: .text(page))

    init() throws {
        opget = try Opget()
    }

    private func whole(_ tag: String = "v1") -> Answer {
        .representation(Representation(.text(body), entityTag: .strong(tag), lastModified: Self.date))
    }

    private static let date = Date(timeIntervalSince1970: 1_700_000_000)

    private func size(_ name: String) -> Int? { (try? Data(contentsOf: opget.directory.file(name)))?.count }

    @Test("S27") func aSignInPageIsAnOutage() async throws {
        let server = try ScriptedServer([
            whole().breaking(after: .body(100_000)), Self.signIn, Self.signIn, whole(),
        ])
        let address = server.url(path: "big.iso").absoluteString
        let failed = try await opget("--retry", "2", address)
        #expect(failed.code == 8)
        #expect(
            failed.errors.contains(
                "The server sent text/html, 62 bytes, instead of 293.0 KiB: is this the sign-in page of a captive portal?"
            )
        )
        #expect(try opget.files() == ["big.iso.part", "big.iso.part.resume"])
        #expect(size("big.iso.part") == 100_000)
        let result = try await opget(address)
        #expect(result.code == 0)
        #expect(server.requests.last?["Range"] == "bytes=100000-")
        #expect(try opget.text("big.iso") == body)
    }

    @Test("S27", arguments: ["-N", "--overwrite"]) func aSignInPageReplacesNoFile(option: String) async throws
    {
        let server = try ScriptedServer([whole(), Self.signIn])
        let address = server.url(path: "big.iso").absoluteString
        #expect(try await opget(address).code == 0)
        #expect(try await opget(option, "--retry", "0", address).code == 8)
        #expect(try opget.files() == ["big.iso"])
        #expect(try opget.text("big.iso") == body)
    }

    @Test func aPageUnderTheNameOfAnArchiveIsReportedAndTaken() async throws {
        let server = try ScriptedServer([Self.signIn])
        let odd = try await opget(server.url(path: "a.tar.gz").absoluteString)
        #expect(odd.code == 0 && odd.errors.contains("a.tar.gz: the server sends text/html"))
        let plain = try await opget(server.url(path: "a.html").absoluteString)
        #expect(plain.code == 0 && !plain.errors.contains("the server sends"))
    }

    @Test("P17") func aFreshLinkContinues() async throws {
        let server = try ScriptedServer([
            whole().breaking(after: .body(100_000)), .respond(403, body: "expired"), whole(),
        ])
        let failed = try await opget(
            "--retry",
            "1",
            "-o",
            "a b",
            server.url(path: "f").absoluteString + "?sig=old"
        )
        #expect(failed.code == 8)
        #expect(failed.errors.contains("request a fresh link, then: opget -o 'a b' NEWLINK"))
        let result = try await opget("-o", "a b", server.url(path: "f").absoluteString + "?sig=new")
        #expect(result.code == 0)
        #expect(server.requests.last?["Range"] == "bytes=34464-")
        #expect(try opget.text("a b") == body)
    }

    /// Under a date alone another link starts over.
    @Test("P17") func withoutATagNoLinkIsRequested() async throws {
        let dated = Answer.representation(Representation(.text(body), lastModified: Self.date))
        let server = try ScriptedServer([
            dated.breaking(after: .body(100_000)), .respond(403, body: "expired"),
        ])
        let failed = try await opget("--retry", "1", "-o", "a", server.url(path: "f").absoluteString)
        #expect(failed.code == 8 && !failed.errors.contains("NEWLINK"))
        #expect(failed.errors.contains("can only be resumed with the same link: the server sends no ETag."))
        #expect(size("a.part") == 100_000)
    }

    @Test("P17", arguments: [false, true]) func anotherServerContinuesOnlyWithAChecksum(hasDigest: Bool)
        async throws
    {
        let first = try ScriptedServer([whole().breaking(after: .body(100_000))])
        let second = try ScriptedServer([whole()])
        _ = try await opget("--retry", "0", "-o", "f", first.url(path: "f").absoluteString)
        let options = hasDigest ? ["--checksum", try checksum] : []
        let result = try await opget.start(options + ["-o", "f", second.url(path: "f").absoluteString])
            .result()
        #expect(result.code == 0)
        #expect(second.requests.map { $0["Range"] } == [hasDigest ? "bytes=34464-" : nil])
        #expect(try opget.text("f") == body)
    }

    private var checksum: String {
        get throws { "sha-256=" + (try FileDigest.of(Data(body.utf8), algorithm: .sha256)).hex }
    }

    // MARK: - A tag that differs with each answer

    @Test func startingOverCountsAsATry() async throws {
        let answers = (0..<20).map { whole("e\($0 % 2)").breaking(after: .body(100_000)) }
        let server = try ScriptedServer(answers)
        let result = try await opget("--retry", "2", server.url(path: "f").absoluteString)
        #expect(result.code == 4)
        #expect(server.requests.count == 3)
        #expect(result.errors.contains("its ETag changes with each response; -c continues by comparing"))
    }

    @Test func withCItContinuesByComparing() async throws {
        let counter = Recorder<Int>()
        let server = try ScriptedServer { request in
            counter.append(0)
            let tag = "e\(counter.elements.count % 2)"
            return whole(tag).breaking(after: .body(100_000))
        }
        let result = try await opget("-c", "--retry", "2", server.url(path: "f").absoluteString)
        #expect(result.code == 0)
        #expect(try opget.text("f") == body)
        #expect(result.errors.contains("joined by comparing"))
    }

    // MARK: - Another program's file

    @Test func aBeginningWithAChecksumContinues() async throws {
        let server = try ScriptedServer([whole()])
        let address = server.url(path: "f").absoluteString
        try opget.write(String(body.prefix(150_000)), "f")
        #expect(try await opget(address).code == 11)
        let result = try await opget("-c", "--checksum", try checksum, address)
        #expect(result.code == 0)
        #expect(try opget.text("f") == body)
        #expect(server.requests.last?["Range"] == "bytes=84464-")
    }
}
