import Foundation
import OperationNetworkingTesting
import Testing

@testable import opget

@Suite(.serialized) struct FetchingTests {
    private let opget: Opget

    init() throws {
        opget = try Opget()
    }

    private func address(_ server: ScriptedServer, _ path: String) -> String {
        server.url(path: path).absoluteString
    }

    @Test func aFileIsSavedUnderItsName() async throws {
        let server = try ScriptedServer([.respond(200, body: "0123456789")])
        let result = try await opget(address(server, "a%20b.txt"))
        #expect(result.code == 0)
        #expect(result.output == "")
        #expect(try opget.files() == ["a b.txt"])
        #expect(try opget.text("a b.txt") == "0123456789")
        #expect(result.errorLines.count == 1)
        #expect(result.errors.hasPrefix("a b.txt: 10 B in "))
    }

    /// More than the six connections to a host that the library allows.
    @Test(arguments: [3, 9]) func severalAreFetchedSoManyAtATime(jobs: Int) async throws {
        let gate = Gate()
        let server = try ScriptedServer { request in
            .respond(200, body: .text(request.target)).held(by: gate)
        }
        let addresses = (1...12).map { address(server, "file\($0)") }
        let run = try opget.start(["-j", "\(jobs)", "-d", "down"] + addresses)
        try await gate.waitForArrivals(jobs)
        #expect(server.requests.count == jobs)
        gate.open()
        let result = try await run.result()
        #expect(result.code == 0)
        #expect(try opget.files() == ["down"] + (1...12).map { "down/file\($0)" }.sorted())
        #expect(try opget.text("down/file12") == "/file12")
        #expect(result.errorLines.last?.hasPrefix("12 of 12 done: 12 fetched (75 B)") == true)
    }

    @Test func aListNamesAddressesAndFiles() async throws {
        let server = try ScriptedServer { .respond(200, body: .text($0.target)) }
        let list = """
            # two files
            \(address(server, "a"))
            \(address(server, "b"))
              out=sub/c
              dir=x
            """
        try opget.write(list, "list")
        #expect(try await opget("-i", "list", "-d", "one").code == 0)
        #expect(try opget.text("one/a") == "/a")
        #expect(try opget.text("one/x/sub/c") == "/b")
        #expect(try await opget("-q", "-i", "-", "-d", "two", input: list).code == 0)
        #expect(try opget.text("two/x/sub/c") == "/b")
    }

    /// RFC 9110 §15.3: none of them has the file.
    @Test(arguments: [201, 202, 204, 205, 207, 208, 226], ["-", "/dev/fd/1", "/dev/stdout", "a"])
    func aSuccessWithoutTheFileIsNotAFile(status: Int, output: String) async throws {
        let server = try ScriptedServer([
            .respond(status, body: [204, 205].contains(status) ? "" : "no file")
        ])
        let result = try await opget("--retry", "0", "-o", output, address(server, "a"))
        #expect(result.code == 7)
        #expect(result.output == "")
        #expect(result.errors.contains("\(status)"))
        #expect(try opget.files() == [])
    }

    /// RFC 9110 §15: a status that nobody knows counts as the x00 of its class.
    @Test(arguments: ["-", "/dev/fd/1", "a"]) func anUnknownSuccessWithALengthIsAFile(output: String)
        async throws
    {
        let server = try ScriptedServer { request in
            let answer = Answer.respond(299, body: "0123456789")
            return request.target == "/known" ? answer : answer.chunked()
        }
        let result = try await opget("-o", output, address(server, "known"))
        #expect(result.code == 0)
        #expect(try (output == "a" ? opget.text("a") : result.output) == "0123456789")
        let unknown = try await opget("--overwrite", "-o", output, address(server, "unknown"))
        #expect(unknown.code == 7)
        #expect(unknown.output == "")
    }

    @Test func unrequestedPartsAreNotAFile() async throws {
        let (asked, sent) = (Gate(), Gate())
        let first = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"
        let both = first + "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nSTRANGER"
        let server = try ScriptedServer { request in
            guard request.number == 0 else { return .respond(body: .text(request.target)) }
            return .raw(.text(both), keepingOpen: true)
                .held(after: .wire(first.utf8.count), by: asked)
                .performing(after: .wire(both.utf8.count)) { sent.open() }
        }
        let other = try ScriptedServer { _ in
            asked.open()
            return .respond(body: "b").held(by: sent)
        }
        let list = [address(server, "a"), address(other, "b"), address(server, "c"), address(server, "d")]
        try opget.write(list.joined(separator: "\n"), "list")
        #expect(try await opget("-j1", "-i", "list", "-d", "down").code == 0)
        #expect(try opget.text("down/c") == "/c")
        #expect(try opget.text("down/d") == "/d")
    }

    @Test func standardOutputGetsTheBodyAndNothingElse() async throws {
        let body = String(repeating: "0123456789", count: 200_000)
        let server = try ScriptedServer([.respond(200, body: .text(body))])
        let result = try await opget("-o", "-", "--progress", "always", address(server, "a"))
        #expect(result.code == 0)
        #expect(result.output == body)
        #expect(try opget.files() == [])
    }

    @Test func nothingOfAnErrorGoesToStandardOutput() async throws {
        let server = try ScriptedServer([.respond(404, body: "no such page")])
        let result = try await opget("-o", "-", address(server, "a"))
        #expect(result.code == 8)
        #expect(result.output == "")
    }

    @Test func aFinishedFileIsLeftAsItIsAndCountsAsDone() async throws {
        let server = try ScriptedServer([.respond(200, body: "new")])
        try await opget.write("old", "a", from: server.url(path: "a"))
        let result = try await opget(address(server, "a"))
        #expect(result.code == 0)
        #expect(result.errors == "a: already there (3 B)\n")
        #expect(try opget.text("a") == "old")
        #expect(server.requests.isEmpty)
    }

    @Test func aFinishedFileIsReplacedOnRequestAndOnlyWhenTheNewOneIsComplete() async throws {
        let server = try ScriptedServer([
            .respond(200, body: "new", breakingAfter: 1), .respond(200, body: "new"),
        ])
        try opget.write("old", "a")
        #expect(try await opget("--overwrite", "--retry", "0", address(server, "a")).code == 4)
        #expect(try opget.text("a") == "old")
        #expect(try await opget("--overwrite", address(server, "a")).code == 0)
        #expect(try opget.text("a") == "new")
        #expect(try opget.files() == ["a"])
    }

    @Test func aFileThatAppearsMeanwhileIsNotReplaced() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(200, body: "ours").held(after: 2, by: gate)])
        let run = try opget.start([address(server, "a")])
        try await gate.waitForArrivals()
        try opget.write("theirs", "a")
        gate.open()
        let result = try await run.result()
        #expect(result.code == 11)
        // The same command would stop at that file.
        #expect(!result.errors.contains("goes on"))
        #expect(try opget.files() == ["a", "a.part", "a.part.resume"])
        #expect(try opget.text("a") == "theirs")
    }

    @Test func twoRunsOfTheSameFileDoNotSpoilEachOther() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(200, body: "0123456789").held(after: 2, by: gate)])
        let first = try opget.start([address(server, "a")])
        try await gate.waitForArrivals()
        let second = try await opget(address(server, "a"))
        #expect(second.code == 3)
        #expect(second.errors.contains("another operation or process"))
        gate.open()
        #expect(try await first.result().code == 0)
        #expect(try opget.text("a") == "0123456789")
        #expect(try opget.files() == ["a"])
    }

    @Test func fieldsAreSent() async throws {
        let server = try ScriptedServer([.respond(200)])
        #expect(try await opget("-H", "X-Test: yes", address(server, "a")).code == 0)
        #expect(server.requests.first?["X-Test"] == "yes")
        #expect(server.requests.first?["User-Agent"] == "opget/\(OpgetCommand.version)")
        #expect(try opget.text("a") == "")
    }

    @Test(arguments: ["2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
    func whatIsMeantForAClosedDescriptorNeverReachesAFile(redirection: String) async throws {
        let server = try ScriptedServer { .respond(200, body: .text($0.target)) }
        let addresses = ["a", "b"].map { address(server, $0) }
        let result = try await opget.start(
            ["-j", "1", "--progress", "always"] + addresses,
            redirection: redirection
        )
        .result()
        #expect(result.code == 0)
        #expect(result.output + result.errors == "")
        #expect(try opget.text("a") == "/a")
        #expect(try opget.text("b") == "/b")
    }

    @Test func standardOutputThatIsClosedFromTheBeginningIsAFailure() async throws {
        let server = try ScriptedServer([.respond(200, body: "x")])
        let result = try await opget.start(["-o", "-", address(server, "a")], redirection: ">&-").result()
        #expect(result.code == 3)
        #expect(result.errorLines.count == 1)
        // What was put in its place takes all, and keeps nothing.
        for output in ["/dev/stderr", "/dev/fd/2"] {
            let run = try opget.start(["-o", output, address(server, "a")], redirection: "2>&-")
            #expect(try await run.result().code == 3)
        }
    }

    /// No option writes through it.
    @Test func aLinkToAFileIsNamedAsOne() async throws {
        let server = try ScriptedServer([.respond(200, body: "x")])
        try opget.write("theirs", "b")
        try FileManager.default.createSymbolicLink(
            atPath: opget.directory.file("a").path,
            withDestinationPath: "b"
        )
        for options in [[], ["-c"]] {
            let result = try await opget.start(options + [address(server, "a")]).result()
            #expect(result.code == 11)
            #expect(result.errors.contains("is a link") && !result.errors.contains("--overwrite"))
        }
        #expect(try opget.text("b") == "theirs")
        #expect(server.requests.isEmpty)
    }

    /// As of a file: there is no more proof in a descriptor.
    @Test(arguments: [true, false])
    func anEndThatNothingProvesIsSaidAlsoOfStandardOutput(isProven: Bool) async throws {
        let answer = Answer.respond(200, body: "x")
        let server = try ScriptedServer([isProven ? answer : answer.untilClose()])
        let arguments = ["-o", "-", "--json-fd", "3", address(server, "a")]
        let result = try await opget.start(arguments, redirection: "3>&2").result()
        #expect(result.code == 0)
        #expect(result.errors.contains("\"proof\":\"unverifiable\"") == !isProven)
        #expect(result.errors.contains("perhaps incomplete") == !isProven)
    }

    @Test func aDeviceIsWrittenToDirectly() async throws {
        let server = try ScriptedServer([.respond(200, body: "0123456789")])
        #expect(try await opget("-o", "/dev/null", address(server, "a")).code == 0)
        #expect(try opget.files() == [])
    }
}
