import Foundation
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import opget

/// Files that are there already: which of them count as done, and what `-c` and `-N` make of the others.
@Suite(.serialized) struct ExistingFileTests {
    private let opget: Opget
    private let body = String(repeating: "0123456789", count: 20_000)
    private let date = Date(timeIntervalSince1970: 1_700_000_000)

    init() throws {
        opget = try Opget()
    }

    private func server(
        tag: Representation.EntityTag? = .strong("v1"),
        answers: [Answer] = [.currentRepresentation],
        misbehaving: [Representation.Misbehavior] = []
    ) throws -> ScriptedServer {
        var representation = Representation(.text(body), entityTag: tag, lastModified: date)
        representation.misbehaviors = misbehaving
        return try ScriptedServer(serving: representation, answers: answers)
    }

    private func address(_ server: ScriptedServer, _ path: String = "a") -> String {
        server.url(path: path).absoluteString
    }

    private func path(_ name: String) -> String { opget.directory.file(name).path }

    private func setDate(_ date: Date, _ name: String) throws {
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path(name))
    }

    // MARK: - Done or not

    @Test func aFileOfAnotherProgramIsNotDone() async throws {
        let server = try server()
        try opget.write("theirs", "a")
        let result = try await opget("--json", address(server), address(server, "b"))
        #expect(result.code == 11)
        #expect(
            result.errors.contains("nothing shows that opget saved it; use --checksum, --overwrite or -N.")
        )
        #expect(result.output.contains("\"errorClass\":\"exists\""))
        #expect(try opget.text("a") == "theirs")
        // The list goes on.
        #expect(try opget.files() == ["a", "b"])
        #expect(server.requests.map(\.target) == ["/b"])
    }

    @Test func aFileThatThisAddressMadeIsDoneUntilItIsChanged() async throws {
        let server = try server()
        #expect(try await opget(address(server)).code == 0)
        let again = try await opget("--json", address(server))
        #expect(again.code == 0)
        #expect(again.output.contains("\"proof\":\"record\""))
        // Another name is the same file.
        try FileManager.default.moveItem(atPath: path("a"), toPath: path("moved"))
        try FileManager.default.createSymbolicLink(atPath: path("a"), withDestinationPath: "moved")
        #expect(try await opget(address(server)).code == 0)
        try FileManager.default.removeItem(atPath: path("a"))
        try FileManager.default.moveItem(atPath: path("moved"), toPath: path("a"))
        #expect(server.requests.count == 1)
        // The same name, and another address or another question.
        #expect(try await opget("-o", "a", address(server, "b")).code == 11)
        #expect(try await opget("-H", "Accept: text/plain", address(server)).code == 11)
        // As long, and as old to the second.
        let attributes = try FileManager.default.attributesOfItem(atPath: path("a"))
        try opget.write(String(body.reversed()), "a")
        try setDate(try #require(attributes[.modificationDate] as? Date).addingTimeInterval(0.001), "a")
        let changed = try await opget(address(server))
        #expect(changed.code == 11)
        #expect(changed.errors.contains("it was changed after opget saved it"))
        #expect(server.requests.count == 1)
    }

    /// Foundation's copy would be without the attribute.
    private func copy(_ name: String, to other: String) throws {
        try Process.run(URL(filePath: "/bin/cp"), arguments: ["-a", path(name), path(other)]).waitUntilExit()
    }

    /// An archive can bring attributes as well.
    @Test func aCopyWithItsAttributesIsNotDone() async throws {
        let server = try server()
        #expect(try await opget(address(server)).code == 0)
        try copy("a", to: "copy")
        #expect(unlink(path("a")) == 0)
        try FileManager.default.moveItem(atPath: path("copy"), toPath: path("a"))
        let result = try await opget(address(server))
        #expect(result.code == 11)
        #expect(result.errors.contains("nothing shows that opget saved it"))
        #expect(try await opget("--checksum", digest, address(server)).code == 0)
        #expect(server.requests.count == 1)
        #expect(try await opget("-N", address(server)).code == 0)
        #expect(server.requests.last?["If-None-Match"] == nil)
    }

    @Test func anEmptyFileCountsAsAbsent() async throws {
        let server = try server()
        try opget.write("", "a")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path("a"))
        #expect(try await opget(address(server)).code == 0)
        #expect(try opget.text("a") == body)
        try opget.write("", "b")
        #expect(try await opget("-N", address(server, "b")).code == 0)
        #expect(try opget.text("b") == body)
    }

    @Test(arguments: ["-c", "-N"])
    func aFileThatAppearsMeanwhileIsNotReplaced(option: String) async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(200, body: "ours").held(after: 2, by: gate)])
        let run = try opget.start([option, address(server)])
        try await gate.waitForArrivals()
        try opget.write("theirs", "a")
        gate.open()
        #expect(try await run.result().code == 11)
        #expect(try opget.text("a") == "theirs")
    }

    @Test(arguments: [0o622, 0o602])
    func aFileThatOthersMayWriteIsNotDone(mode: Int) async throws {
        let server = try server()
        try await opget.write("planted", "a", from: server.url(path: "a"))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path("a"))
        // The group of root is root's alone.
        if mode == 0o622, chown(path("a"), .max, 65_534) != 0 { return }
        let result = try await opget(address(server))
        #expect(result.code == 11)
        #expect(result.errors.contains("other users may write to it"))
        #expect(try await opget("-c", address(server)).code == 11)
        #expect(server.requests.isEmpty)
        #expect(try await opget("-N", address(server)).code == 0)
        #expect(server.requests[0]["If-None-Match"] == nil && server.requests[0]["Range"] == nil)
        #expect(try opget.text("a") == body)
    }

    @Test(.enabled(if: geteuid() == 0)) func aFileOfAnotherUserIsNotDone() async throws {
        let server = try server()
        try await opget.write("planted", "a", from: server.url(path: "a"))
        #expect(chown(path("a"), 65_534, .max) == 0)
        let result = try await opget(address(server))
        #expect(result.code == 11)
        #expect(result.errors.contains("belongs to another user"))
        #expect(try await opget("-c", address(server)).code == 11)
        #expect(try opget.text("a") == "planted")
        #expect(server.requests.isEmpty)
    }

    @Test func aNameOfPartialFilesIsRefusedAndTheListContinues() async throws {
        let server = try server()
        try opget.write("planted", "a.part")
        let addresses = ["a.part", "b.PART.resume", "c"].map { address(server, $0) }
        let result = try await opget.start(addresses).result()
        #expect(result.code == 3)
        #expect(result.errors.contains("with -o"))
        #expect(try opget.files() == ["a.part", "c"])
        #expect(server.requests.map(\.target) == ["/c"])
        #expect(try await opget("-o", "x", addresses[0]).code == 0)
    }

    @Test func severalListsAreAllRead() async throws {
        let server = try server()
        try opget.write(address(server, "a"), "one")
        try opget.write(address(server, "b"), "two")
        #expect(try await opget("-i", "one", "-i", "two").code == 0)
        #expect(try opget.files() == ["a", "b", "one", "two"])
        #expect(Set(server.requests.map(\.target)) == ["/a", "/b"])
    }

    // MARK: - Going on

    private var digest: String {
        get throws { try FileDigest.of(Data(body.utf8), algorithm: .sha256).hex }
    }

    @Test func whatAnotherProgramBeganIsContinuedOnlyUnderAChecksum() async throws {
        let server = try server()
        let half = String(body.prefix(150_000))
        try opget.write(half, "a")
        let result = try await opget("-c", address(server))
        #expect(result.code == 11)
        #expect(
            result.errors.contains("so -c resumes it only with --checksum; --overwrite or -N replaces it.")
        )
        #expect(try opget.text("a") == half)
        #expect(try await opget("--checksum", digest, address(server)).code == 9)
        #expect(server.requests.isEmpty)
    }

    @Test(arguments: [Representation.EntityTag.strong("v1"), .weak("v1"), nil])
    func whatAnotherProgramBeganIsContinued(tag: Representation.EntityTag?) async throws {
        let server = try server(tag: tag)
        try opget.write(String(body.prefix(150_000)), "a")
        let result = try await opget("-c", "--checksum", digest, "--json", address(server))
        #expect(result.code == 0)
        #expect(try opget.text("a") == body)
        #expect(try opget.files() == ["a"])
        #expect(server.requests.map { $0["Range"] } == ["bytes=84464-"])
        #expect(result.output.contains("\"resumedAt\":150000"))
        #expect(result.output.contains("\"proof\":\"digest\""))
    }

    /// The last bytes differ, the server has no ranges, or the file is longer than the server's.
    @Test(arguments: [("other bytes", false), ("0", true), ("longer", false)])
    func whatIsNotTheBeginningStaysAsItIs(text: String, ignoresRange: Bool) async throws {
        let server = try server(misbehaving: ignoresRange ? [.ignoresRange] : [])
        let text = text == "longer" ? body + "more" : text
        try opget.write(text, "a")
        #expect(try await opget("-c", "--checksum", digest, address(server)).code == 11)
        #expect(try opget.text("a") == text)
        #expect(try opget.files() == ["a"])
    }

    /// The last bytes are right, the first one is not.
    @Test func aChecksumIsHeldAgainstWhatIsContinued() async throws {
        let server = try server()
        let half = "X" + body.dropFirst().prefix(150_000)
        try opget.write(half, "a")
        let result = try await opget("-c", "--checksum", digest, address(server))
        #expect(result.code == 9)
        #expect(try opget.text("a") == half)
        #expect(try opget.files() == ["a"])
    }

    @Test func theOldFileStaysUntilTheNewOneIsWhole() async throws {
        let server = try server(answers: [
            .currentRepresentation.breaking(after: 80_000), .currentRepresentation,
        ])
        let half = String(body.prefix(100_000))
        try opget.write(half, "a")
        let options = ["-c", "--checksum", try digest, "--retry", "0"]
        #expect(try await opget.start(options + [address(server)]).result().code == 4)
        #expect(try opget.text("a") == half)
        #expect(try opget.files() == ["a", "a.part", "a.part.resume"])
        // Without the checksum nothing proves the copy.
        let other = try await opget("-o", "a", "--overwrite", "--retry", "0", address(server, "a"))
        #expect(other.code == 0)
        #expect(other.errors.contains("started over because the partial file began as another program's"))
        #expect(try opget.text("a") == body)
        #expect(try opget.files() == ["a"])
    }

    @Test func whatWasJoinedByComparingIsNotTakenForProvenLater() async throws {
        let server = try server(
            tag: .weak("v1"),
            answers: [.currentRepresentation.breaking(after: .body(150_000)), .currentRepresentation]
        )
        #expect(try await opget("-c", "--retry", "0", address(server)).code == 4)
        #expect(try await opget("-c", address(server)).code == 0)
        #expect(server.requests.last?["Range"] != nil)
        for options in [[], ["-c"]] {
            #expect(try await opget.start(options + [address(server)]).result().code == 11)
        }
        #expect(try await opget("--checksum", digest, address(server)).code == 0)
        #expect(try await opget("-N", address(server)).code == 0)
        #expect(server.requests.last?["If-None-Match"] == nil)
        #expect(try opget.text("a") == body)
    }

    @Test func whatMayBeIncompleteIsNotTakenForProvenLater() async throws {
        let server = try server(answers: [
            .respond(200, ["ETag": "\"v1\""], body: .text(String(body.prefix(150_000)))).untilClose(),
            .currentRepresentation,
        ])
        let first = try await opget(address(server))
        #expect(first.code == 0)
        #expect(first.errors.contains("perhaps incomplete"))
        let plain = try await opget(address(server))
        #expect(plain.code == 11)
        #expect(plain.errors.contains("it may be incomplete"))
        #expect(server.requests.count == 1)
        #expect(try await opget("-c", address(server)).code == 11)
        #expect(try await opget("-N", address(server)).code == 0)
        #expect(try opget.text("a") == body)
    }

    /// The names in the directory. A run may be killed while it writes a checkpoint.
    private func leftovers() throws -> [String] { try opget.files().filter { $0 != "a.part.resume.new" } }

    /// The file has its name, and is still known by the other one, too.
    @Test func whatARunThatWasKilledAtTheVeryEndLeftIsClearedAway() async throws {
        let server = try server(answers: [
            .currentRepresentation.breaking(after: .body(10_000)), .currentRepresentation,
        ])
        #expect(try await opget("--retry", "0", address(server)).code == 4)
        #expect(try leftovers() == ["a.part", "a.part.resume"])
        // It names the part, which becomes the file.
        try copy("a.part.resume", to: "kept")
        #expect(try await opget(address(server)).code == 0)
        try FileManager.default.linkItem(atPath: path("a"), toPath: path("a.part"))
        try FileManager.default.moveItem(atPath: path("kept"), toPath: path("a.part.resume"))
        let result = try await opget(address(server))
        #expect(result.code == 0 && result.errors.hasPrefix("a: already there ("))
        #expect(try opget.files() == ["a"])
        #expect(server.requests.count == 2)
    }

    @Test func aPartOfAnotherProgramIsNotRemoved() async throws {
        let server = try server()
        let digest = try FileDigest.of(Data(body.utf8), algorithm: .sha256).hex
        for name in ["a", "a.part", "a.part.resume"] { try opget.write(body, name) }
        #expect(try await opget("--checksum", digest, address(server)).code == 0)
        #expect(try opget.files() == ["a", "a.part", "a.part.resume"])
    }

    @Test func aPartOfAnotherProgramIsNamedBesideTheFileThatWasFetched() async throws {
        let server = try server()
        for name in ["a.part", "a.part.resume"] { try opget.write("theirs", name) }
        let result = try await opget("--json", address(server))
        #expect(result.code == 0)
        #expect(result.errors.hasSuffix("; a.part was not used, and is kept\n"))
        #expect(try opget.files() == ["a", "a.part", "a.part.resume"])
        let event = try #require(result.output.split(separator: "\n").first { $0.contains("itemFinished") })
        #expect(event.contains("\"partialPath\":\"a.part\"") && event.contains("\"result\":\"saved\""))
    }

    /// A part of what may be a later version than the file that is there.
    @Test func whatMayBeGoneOnWithStaysBesideAFileThatIsDone() async throws {
        let server = try server(answers: [
            .currentRepresentation, .currentRepresentation.breaking(after: 150_000), .currentRepresentation,
        ])
        #expect(try await opget(address(server)).code == 0)
        #expect(try await opget("--overwrite", "--retry", "0", address(server)).code == 4)
        let done = try await opget("--json", address(server))
        #expect(
            done.errors.hasPrefix("a: already there")
                && done.errors.hasSuffix("; a.part was not used, and is kept\n")
        )
        #expect(try opget.files() == ["a", "a.part", "a.part.resume"])
        let event = try #require(done.output.split(separator: "\n").first { $0.contains("itemFinished") })
        #expect(event.contains("\"partialPath\":\"a.part\"") && event.contains("\"result\":\"alreadyThere\""))
        try opget.write("other", "a")
        #expect(try await opget(address(server)).code == 11)
        #expect(try await opget("--overwrite", address(server)).code == 0)
        #expect(server.requests.last?["Range"] == "bytes=150000-")
        #expect(try opget.files() == ["a"])
    }

    // MARK: - Only what has changed

    /// Nothing shows that it is what the server has.
    @Test func aFileOfAnotherProgramIsFetched() async throws {
        let server = try server()
        try opget.write(body, "a")
        #expect(try await opget("-N", address(server)).code == 0)
        #expect(server.requests.map { $0["If-None-Match"] } == [nil])
        #expect(try await opget("-N", address(server)).errors == "a: up to date\n")
    }

    @Test func aChecksumIsHeldAgainstWhatTheServerHasNoOtherFor() async throws {
        let server = try server()
        let digest = try FileDigest.of(Data(body.utf8), algorithm: .sha256).hex
        #expect(try await opget(address(server)).code == 0)
        let good = try await opget("-N", "--json", "--checksum", digest, address(server))
        #expect(good.errors == "a: up to date, verified sha256\n")
        #expect(good.output.contains("\"bytes\":200000"))
        #expect(server.requests.last?["If-None-Match"] == "\"v1\"")
        // Another byte, with the time and the record of before.
        try await opget.write(
            "X" + body.dropFirst(),
            "a",
            from: server.url(path: "a"),
            fields: ["ETag": "\"v1\""]
        )
        try opget.write("\(digest)  a\n", "sums")
        #expect(try await opget("-N", "--checksums", "sums", address(server)).code == 0)
        #expect(server.requests.last?["If-None-Match"] == nil)
        #expect(try opget.text("a") == body)
    }

    @Test func aFileThatWasChangedHereIsFetched() async throws {
        let server = try server()
        #expect(try await opget(address(server)).code == 0)
        try opget.write("0123456789", "a")
        try setDate(date, "a")
        #expect(try await opget("-N", address(server)).code == 0)
        #expect(server.requests[1]["If-None-Match"] == nil)
        #expect(try opget.text("a") == body)
    }

    @Test func aFileOfTheSameLengthAndDateIsNotTakenForTheServers() async throws {
        let server = try server(misbehaving: [.ignoresRange])
        try opget.write(String(repeating: "0", count: body.count), "a")
        #expect(try await opget("-N", address(server)).code == 0)
        #expect(try opget.text("a") == body)
    }

    @Test func aRangeOfTheUsersIsNoReasonToContinue() async throws {
        let server = try server()
        try opget.write("theirs", "a")
        let result = try await opget("-c", "-H", "Range: bytes=0-9", address(server))
        #expect(result.code == 11)
        #expect(result.errors.contains("use --checksum, --overwrite or -N."))
        #expect(try opget.text("a") == "theirs")
        #expect(server.requests.isEmpty)
        #expect(try await opget("-N", "-H", "Range: bytes=0-9", address(server)).code == 0)
        #expect(try opget.text("a") == "0123456789")
    }

    // MARK: - Open descriptors

    @Test(arguments: ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
    func aDescriptorIsWrittenTo(name: String) async throws {
        let server = try server()
        #expect(try await opget("-o", name, address(server)).output == body)
        let appended = try await opget.start(["-o", name, address(server)], redirection: ">> x").result()
        #expect(appended.code == 0)
        _ = try await opget.start(["-o", name, address(server)], redirection: ">> x").result()
        #expect(try opget.text("x") == body + body)
    }

    @Test(arguments: ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
    func aLinkToADescriptorIsWrittenTo(target: String) async throws {
        let server = try server()
        try FileManager.default.createSymbolicLink(atPath: path("link"), withDestinationPath: target)
        #expect(try await opget("-o", "link", address(server)).output == body)
        let appended = try await opget.start(["-o", "./link", address(server)], redirection: ">> x").result()
        #expect(appended.code == 0)
        #expect(try opget.text("x") == body)
        // Only the user's own word leads out of the directory.
        let named = try await opget("-d", ".", "-o", "link", address(server))
        #expect(named.code == 3)
        #expect(named.output.isEmpty)
        #expect(try opget.files() == ["link", "x"])
    }

    @Test func otherDescriptorsAreWrittenToAsWell() async throws {
        let server = try server()
        let result = try await opget.start(["-o", "/dev/fd/3", address(server)], redirection: "3> x").result()
        #expect(result.code == 0)
        #expect(try opget.text("x") == body)
        let quiet = try await opget("-o", "/dev/stderr", address(server))
        #expect(quiet.errors == body)
        let closed = try await opget("-o", "/dev/fd/9", address(server))
        #expect(closed.code == 3)
        #expect(closed.errors == "opget: Descriptor 9 is not open for writing.\n")
        #expect(server.requests.count == 2)
    }
}
