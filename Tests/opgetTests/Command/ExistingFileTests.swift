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
        #expect(result.errors.contains("not made by opget; use --overwrite, -c or -N."))
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
        // A copy of everything, and another name, are the same file.
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
        #expect(changed.errors.contains("was changed since opget saved it"))
        #expect(server.requests.count == 1)
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

    @Test func anEmptyFileThatGetsBytesMeanwhileIsNotReplaced() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(200, body: "ours").held(after: 2, by: gate)])
        try opget.write("", "a")
        let run = try opget.start([address(server)])
        try await gate.waitForArrivals()
        try opget.write("theirs", "a")
        gate.open()
        let result = try await run.result()
        #expect(result.code == 11)
        #expect(result.errors.contains("and is left as it is now: try again, or use --overwrite, -c or -N."))
        #expect(try opget.text("a") == "theirs")
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

    @Test func aFileThatGrowsWhileItIsContinuedIsNotReplaced() async throws {
        let gate = Gate()
        let server = try server(answers: [
            .currentRepresentation, .currentRepresentation.held(after: 10_000, by: gate),
        ])
        try opget.write(String(body.prefix(150_000)), "a")
        let run = try opget.start(["-c", address(server)])
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
        #expect(result.errors.contains("others may write it"))
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

    @Test func aNameOfPartialFilesIsRefusedAndTheListGoesOn() async throws {
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

    @Test(arguments: [Representation.EntityTag.strong("v1"), .weak("v1"), nil])
    func whatAnotherProgramBeganIsContinued(tag: Representation.EntityTag?) async throws {
        let server = try server(tag: tag)
        try opget.write(String(body.prefix(150_000)), "a")
        let result = try await opget("-c", "--json", address(server))
        #expect(result.code == 0)
        #expect(try opget.text("a") == body)
        #expect(try opget.files() == ["a"])
        #expect(server.requests.first?["Range"] == "bytes=84464-150000")
        #expect(server.requests.count == 2)
        #expect(server.requests.last?["Range"] != nil)
        #expect(result.output.contains("\"resumedAt\":150000"))
        #expect(result.output.contains("\"proof\":\"overlap\""))
    }

    @Test func whatWasJoinedByComparingIsNotTakenForProvenLater() async throws {
        let server = try server()
        try opget.write("X" + body.dropFirst().prefix(149_999), "a")
        #expect(try await opget("-c", address(server)).code == 0)
        let plain = try await opget(address(server))
        #expect(plain.code == 11)
        #expect(plain.errors.contains("joined it from parts by comparing"))
        #expect(server.requests.count == 2)
        let again = try await opget("-c", address(server))
        #expect(again.code == 0)
        #expect(again.errors.hasSuffix(", same length and last bytes\n"))
        let digest = try FileDigest.of(Data(body.utf8), algorithm: .sha256).hex
        #expect(try await opget("--checksum", digest, address(server)).code == 9)
        let changes = try await opget("-N", address(server))
        #expect(changes.code == 0)
        #expect(server.requests.last?["If-None-Match"] == nil)
        #expect(changes.errors == "a: up to date, same length and last bytes\n")
        #expect(try await opget("--overwrite", address(server)).code == 0)
        #expect(try opget.text("a") == body)
        #expect(try await opget(address(server)).code == 0)
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
        #expect(try await opget("-c", address(server)).code == 0)
        #expect(try opget.text("a") == body)
    }

    @Test func aFileOfTheSameLengthAndEndIsDoneAndNoMoreIsClaimed() async throws {
        let server = try server()
        try opget.write("X" + body.dropFirst(), "a")
        let result = try await opget("-c", "--json", address(server))
        #expect(result.code == 0)
        #expect(result.errors.hasSuffix(", same length and last bytes\n"))
        #expect(result.output.contains("\"proof\":\"overlap\""))
        #expect(server.requests.map { $0["Range"] } == ["bytes=134464-200000"])
    }

    @Test(arguments: ["other bytes", "01234567x", "0"])
    func whatIsNotTheBeginningStaysAsItIs(text: String) async throws {
        let server = try server(misbehaving: text == "0" ? [.ignoresRange] : [])
        try opget.write(text, "a")
        let result = try await opget("-c", address(server))
        #expect(result.code == 11)
        #expect(try opget.text("a") == text)
        #expect(try opget.files() == ["a"])
    }

    /// A body of a 200 may be no more than what was asked for, or may have been cut short.
    @Test(arguments: [
        Answer.respond(200, body: "01234"), .respond(200, ["Content-Range": "bytes 0-3/10"], body: "0123"),
        .respond(200, ["Content-Range": "bytes 0-4/10"], body: "01234"),
        .respond(200, body: "0123").untilClose(),
        .respond(206, ["Content-Range": "bytes 0-3/4"], body: "01234"),
        .respond(206, ["Content-Range": "bytes 0-3/*"], body: "0123"),
        .respond(416, ["Content-Range": "bytes */4"], body: ""),
    ])
    func aCutFileIsNotCompleteUnlessTheServerSaysSo(answer: Answer) async throws {
        let server = try ScriptedServer([answer])
        try opget.write("0123", "a")
        let result = try await opget("-c", "--retry", "0", address(server))
        #expect(result.code == 11)
        #expect(server.requests[0]["Range"] == "bytes=0-4")
        #expect(try opget.text("a") == "0123")
        #expect(try opget.files() == ["a"])
    }

    @Test(arguments: [
        Answer.respond(200, body: "0123"), .respond(200, body: "0123").chunked(),
        .respond(206, ["Content-Range": "bytes 0-3/4"], body: "0123"),
    ])
    func aFileThatIsAllThereIsDone(answer: Answer) async throws {
        let server = try ScriptedServer([answer])
        try opget.write("0123", "a")
        let result = try await opget("-c", address(server))
        #expect(result.code == 0 && result.errors.hasPrefix("a: already there"))
    }

    @Test func aLongerFileIsNotTheBeginning() async throws {
        let server = try server()
        try opget.write(body + "more", "a")
        #expect(try await opget("-c", address(server)).code == 11)
        #expect(try opget.text("a") == body + "more")
    }

    @Test func theOldFileStaysUntilTheNewOneIsWhole() async throws {
        let server = try server(answers: [
            .currentRepresentation, .currentRepresentation.breaking(after: 10_000), .currentRepresentation,
        ])
        let half = String(body.prefix(100_000))
        try opget.write(half, "a")
        #expect(try await opget("-c", "--retry", "0", address(server)).code == 4)
        #expect(try opget.text("a") == half)
        #expect(try opget.files() == ["a", "a.part", "a.part.resume"])
        #expect(try await opget("-c", address(server)).code == 0)
        #expect(try opget.text("a") == body)
        #expect(server.requests.last?["Range"] == "bytes=110000-")
    }

    /// A run was killed before a byte came; then another program saved the file, or this one under that name.
    @Test(arguments: ["a.part", "a.1.part"])
    func anEmptyPartBesideACompleteFileIsRemoved(name: String) async throws {
        let server = try server()
        #expect(try await opget(address(server)).code == 0)
        try opget.write("", name)
        // Others may write it: not one of ours.
        #expect(try await opget(address(server)).code == 0)
        #expect(try opget.files() == ["a", name].sorted())
        #expect(chmod(path(name), 0o600) == 0)
        #expect(try await opget(address(server)).code == 0)
        #expect(try opget.files() == ["a"])
        #expect(server.requests.count == 1)
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
        try FileManager.default.moveItem(atPath: path("a.part.resume"), toPath: path("kept"))
        try FileManager.default.removeItem(atPath: path("a.part"))
        #expect(try await opget(address(server)).code == 0)
        try FileManager.default.linkItem(atPath: path("a"), toPath: path("a.part"))
        try FileManager.default.moveItem(atPath: path("kept"), toPath: path("a.part.resume"))
        let result = try await opget(address(server))
        #expect(result.code == 0 && result.errors.hasPrefix("a: already there ("))
        #expect(try opget.files() == ["a"])
        #expect(server.requests.count == 2)
    }

    /// The copy that `-c` made of a file with a wrong beginning does not outlive `-c`, nor that file.
    @Test(arguments: ["--overwrite", "-N", "rm", "rm --overwrite", "rm -c", "-c"])
    func whatAKilledRunCopiedIsOfUseOnlyToContinueTheSameFile(next: String) async throws {
        let gate = Gate()
        let server = try server(answers: [
            .currentRepresentation, .currentRepresentation.held(after: 10_000, by: gate),
            .currentRepresentation,
        ])
        try opget.write("X" + body.dropFirst().prefix(149_999), "a")
        let run = try opget.start(["-c", address(server)])
        try await gate.waitForArrivals()
        run.signal(SIGKILL)
        #expect(try await run.result().code == -SIGKILL)
        gate.open()
        #expect(try leftovers() == ["a", "a.part", "a.part.resume"])
        var options = next.split(separator: " ").map(String.init)
        if options.first == "rm" {
            options.removeFirst()
            try FileManager.default.removeItem(atPath: path("a"))
        } else if options == ["-c"] {
            // The user sets it right.
            try opget.write(String(body.prefix(150_000)), "a")
        }
        let result = try await opget.start(options + [address(server)]).result()
        #expect(result.code == 0)
        #expect(try opget.text("a") == body)
        #expect(try opget.files() == ["a"])
        #expect(result.errors.contains("started over because the partial file was begun with another"))
    }

    /// Copied bytes were not fetched, and do not make the transfer fast.
    @Test func theBytesOfACopyThatIsMadeAnewAreTold() async throws {
        let gate = Gate()
        let server = try server(answers: [
            .currentRepresentation, .currentRepresentation.held(after: 10_000, by: gate),
            .currentRepresentation,
        ])
        try opget.write("X" + body.dropFirst().prefix(149_999), "a")
        let killed = try opget.start(["-c", address(server)])
        try await gate.waitForArrivals()
        killed.signal(SIGKILL)
        #expect(try await killed.result().code == -SIGKILL)
        gate.open()
        try opget.write(String(body.prefix(150_000)), "a")
        let result = try await opget("-c", "--json", address(server))
        #expect(result.code == 0)
        #expect(result.errors.contains("started over because the partial file was begun with another"))
        #expect(result.errorLines.last?.contains(", resumed at ") == true)
        #expect(result.output.contains("\"resumedAt\":150000,"))
    }

    /// Has a run of `-c` begin, and killed while its part is there; then the user completes the file himself.
    private func completeByHand(_ server: ScriptedServer, _ gate: Gate, isKilled: Bool = true) async throws
        -> RunningOpget
    {
        try opget.write("X" + body.dropFirst().prefix(149_999), "a")
        let run = try opget.start(["-c", address(server)])
        try await gate.waitForArrivals()
        if isKilled {
            run.signal(SIGKILL)
            #expect(try await run.result().code == -SIGKILL)
        }
        #expect(try leftovers() == ["a", "a.part", "a.part.resume"])
        try opget.write(body, "a")
        return run
    }

    @Test(arguments: ["-c", "-N", "--checksum"])
    func whatAKilledRunLeftIsRemovedWhenTheFileIsFoundToBeDone(option: String) async throws {
        let gate = Gate()
        let server = try server(answers: [
            .currentRepresentation, .currentRepresentation.held(after: 10_000, by: gate),
            .currentRepresentation,
        ])
        _ = try await completeByHand(server, gate)
        gate.open()
        let digest = try FileDigest.of(Data(body.utf8), algorithm: .sha256).hex
        // Another address has said nothing of the part.
        #expect(try await opget("-o", "a", "--checksum", digest, address(server, "b")).code == 0)
        #expect(try leftovers() == ["a", "a.part", "a.part.resume"])
        let options = option == "--checksum" ? [option, digest] : [option]
        #expect(try await opget.start(options + [address(server)]).result().code == 0)
        #expect(try opget.files() == ["a"])
        #expect(try opget.text("a") == body)
    }

    @Test func thePartOfARunThatGoesOnIsNotRemoved() async throws {
        let gate = Gate()
        let server = try server(answers: [
            .currentRepresentation, .currentRepresentation.held(after: 10_000, by: gate),
            .currentRepresentation,
        ])
        let first = try await completeByHand(server, gate, isKilled: false)
        #expect(try await opget("-c", address(server)).code == 0)
        #expect(try opget.files() == ["a", "a.part", "a.part.resume"])
        gate.open()
        #expect(try await first.result().code == 11)
        #expect(try opget.text("a") == body)
    }

    @Test func aPartOfAnotherProgramIsNotRemoved() async throws {
        let server = try server()
        let digest = try FileDigest.of(Data(body.utf8), algorithm: .sha256).hex
        for name in ["a", "a.part", "a.part.resume"] { try opget.write(body, name) }
        #expect(try await opget("--checksum", digest, address(server)).code == 0)
        #expect(try opget.files() == ["a", "a.part", "a.part.resume"])
    }

    /// A run was killed between the name and the mode of the file, whose part had not the first name.
    @Test func whatARunThatWasKilledHadLeftIsMendedWhateverThePartWasCalled() async throws {
        let server = try server(answers: [.currentRepresentation.breaking(after: 150_000)])
        try opget.write("theirs", "a.part")
        #expect(try await opget("--retry", "0", address(server)).code == 4)
        try FileManager.default.moveItem(atPath: path("a.1.part"), toPath: path("a"))
        func mode() throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path("a"))[.posixPermissions] as? Int
        }
        #expect(try mode() == 0o600)
        // No run completed it.
        #expect(try await opget(address(server)).code == 11)
        try opget.write("other", "b")
        let usual = try FileManager.default.attributesOfItem(atPath: path("b"))[.posixPermissions] as? Int
        #expect(try mode() == usual)
        #expect(try opget.files() == ["a", "a.part", "b"])
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
            done.errors.hasPrefix("a: already there") && done.errors.hasSuffix("; a.part stays beside it\n")
        )
        #expect(try opget.files() == ["a", "a.part", "a.part.resume"])
        let event = try #require(done.output.split(separator: "\n").first { $0.contains("itemFinished") })
        #expect(event.contains("\"partialPath\":\"a.part\"") && event.contains("\"result\":\"alreadyThere\""))
        // An operation has looked for what it could go on with.
        #expect(done.output.contains("itemStarted") && event.contains("\"seconds\":"))
        try opget.write("other", "a")
        let changed = try await opget("--json", address(server))
        #expect(changed.code == 11)
        #expect(
            changed.output.split(separator: "\n").contains {
                $0.contains("failed") && $0.contains("\"seconds\":")
            }
        )
        #expect(try await opget("--overwrite", address(server)).code == 0)
        #expect(server.requests.last?["Range"] == "bytes=150000-")
        #expect(try opget.files() == ["a"])
    }

    @Test func aServerThatChangesTheFileMeanwhileReplacesItOnlyWhenItIsWhole() async throws {
        let server = try ScriptedServer([
            .respond(206, ["Content-Range": "bytes 0-4/10", "ETag": "\"v1\""], body: "01234"),
            .respond(200, ["ETag": "\"v2\""], body: "abcdefgh", breakingAfter: 4),
        ])
        try opget.write("0123", "a")
        #expect(try await opget("-c", "--retry", "0", address(server)).code == 4)
        #expect(try opget.text("a") == "0123")
    }

    @Test func aChecksumIsHeldAgainstWhatIsContinued() async throws {
        let server = try server()
        let digest = try FileDigest.of(Data(body.utf8), algorithm: .sha256).hex
        // The last bytes are right, the first one is not.
        try opget.write("X" + body.dropFirst().prefix(150_000), "a")
        let result = try await opget("-c", "--checksum", digest, address(server))
        #expect(result.code == 0)
        #expect(result.errors.contains("started over because the checksum was wrong"))
        #expect(try opget.text("a") == body)
        try opget.write("X" + body.dropFirst(), "a")
        #expect(try await opget("-c", "--checksum", digest, address(server)).code == 9)
    }

    // MARK: - Only what has changed

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

    /// `isHalf`: the server's date says nothing against it, but its length does.
    @Test(arguments: [true, false], [true, false])
    func aFileOfAnotherProgramIsComparedByItsLengthToo(isHalf: Bool, servesRanges: Bool) async throws {
        let server = try server(misbehaving: servesRanges ? [] : [.ignoresRange])
        try opget.write(isHalf ? String(body.prefix(100_000)) : body, "a")
        try setDate(date, "a")
        let result = try await opget("-N", address(server))
        #expect(result.code == 0)
        // Without ranges no byte was compared, and the file is fetched.
        let isUpToDate = !isHalf && servesRanges
        #expect(result.errors.contains("up to date") == isUpToDate)
        #expect(try opget.text("a") == body)
        #expect(server.requests.count == (isUpToDate ? 1 : 2))
    }

    /// As help and README have it: the server's date is not to be later than the file's own.
    @Test(arguments: [-1.0, 0.0, 1.0])
    func aFileOfAnotherProgramIsKeptUnlessTheServersIsNewer(difference: Double) async throws {
        let server = try server()
        try opget.write(body, "a")
        try setDate(date.addingTimeInterval(difference), "a")
        let result = try await opget("-N", address(server))
        #expect(result.code == 0)
        #expect(result.errors.contains("up to date") == (difference >= 0))
        #expect(server.requests.count == (difference >= 0 ? 1 : 2))
    }

    @Test func aFileOfTheSameLengthAndDateIsNotTakenForTheServers() async throws {
        let server = try server(misbehaving: [.ignoresRange])
        try opget.write(String(repeating: "0", count: body.count), "a")
        #expect(try await opget("-N", address(server)).code == 0)
        #expect(try opget.text("a") == body)
    }

    @Test func aRangeOfTheUsersIsWhyNothingIsCompared() async throws {
        let server = try server()
        try opget.write("theirs", "a")
        let result = try await opget("-c", "-H", "Range: bytes=0-9", address(server))
        #expect(result.code == 11)
        #expect(result.errors.contains("a Range field was given; use --overwrite or -N."))
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

    @Test func theEventOfAComparisonHasItsAnswer() async throws {
        let server = try server(tag: nil)
        try opget.write(String(repeating: "x", count: 100_000), "a")
        let result = try await opget("-c", "--json", address(server))
        #expect(result.code == 11)
        let event = try #require(result.output.split(separator: "\n").first { $0.contains("itemFinished") })
        #expect(event.contains("\"status\":206") && event.contains("\"seconds\":"))
    }
}
