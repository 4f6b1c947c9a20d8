import Foundation
import Glibc
import OperationNetworkingTesting
import Testing

@testable import opget

/// Lengths that no file has, and lengths that are said in an odd way.
@Suite(.serialized) struct LyingLengthTests {
    private let opget: Opget

    init() throws {
        opget = try Opget()
    }

    @Test func sumsOfHighestLengthsAreShown() async throws {
        let answer = Answer.raw(
            "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nabc",
            keepingOpen: true
        )
        let server = try ScriptedServer([answer])
        // Devices, so that no room is looked for.
        let items = ["null", "zero"].map { server.url(path: $0).absoluteString + "\n dir=/dev\n out=\($0)\n" }
        try opget.write(items.joined(), "list")
        let run = try opget.start(["--json", "-i", "list"])
        // Each item reports it after the batch was summed up.
        for item in 1...2 {
            try await run.waitForOutput(
                containing: "\"expected\":9223372036854775807,\"item\":\(item)"
            )
        }
        run.signal(SIGINT)
        #expect(try await run.result().code == -SIGINT)
    }

    @Test func aLengthThatIsSaidTwiceIsALength() async throws {
        let server = try ScriptedServer([
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 3, 3\r\nConnection: close\r\n\r\nabc")
        ])
        let result = try await opget(server.url(path: "a").absoluteString)
        #expect(result.code == 0)
        #expect(!result.errors.contains("perhaps incomplete"))
        #expect(try opget.text("a") == "abc")
    }

    @Test func aLengthThatNoFileHasIsNamed() async throws {
        let server = try ScriptedServer([
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nabc", keepingOpen: true)
        ])
        let result = try await opget(server.url(path: "a").absoluteString)
        #expect(result.code == 10)
        #expect(
            result.errors.contains(
                "a would have 9223372036854775807 bytes, which exceeds the maximum file size"
            )
        )
    }

    @Test(arguments: [7, 10, 13, 20, 30])
    func tooFewDescriptorsAreAnErrorOfItsOwn(limit: Int) throws {
        let process = Process()
        let errors = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c", "ulimit -n \(limit); exec \"$0\" -q -o - http://127.0.0.1:1/", Opget.binary.path,
        ]
        process.standardError = errors
        try process.run()
        let text = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 1)
        #expect(text.contains("28 free descriptors are needed") && text.contains("ulimit -n"))
    }

    /// In a process of its own: the limit is that of a user, and does not count for root.
    @Test(.enabled(if: geteuid() == 0)) func threadsThatCannotBeMadeAreNotCounted() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            var limit = rlimit(rlim_cur: 12, rlim_max: 12)
            setrlimit(__rlimit_resource_t(__RLIMIT_NPROC.rawValue), &limit)
            guard setuid(54_321) == 0 else { exit(2) }
            let count = ThreadLimit.trial(for: 5)
            guard (0..<12).contains(count) else { exit(3) }
            // They have ended.
            guard ThreadLimit.trial(for: 5) == count else { exit(4) }
        }
    }
}
