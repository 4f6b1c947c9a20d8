import Foundation
import OperationNetworkingTesting
import Testing

/// Where the programs are.
private let examplesDirectory = ProcessInfo.processInfo.environment["OPERATIONNETWORKING_EXAMPLES"]

/// Runs the programs of the package `Examples`; `make test` builds them and says where.
@Suite(.enabled(if: examplesDirectory != nil), .timeLimit(.minutes(1)))
struct ExampleTests {
    @Test func aRequestShowsProgressAndItsObject() throws {
        let server = try ScriptedServer([
            .respond(200, ["Content-Type": "application/json"], body: "{\"answer\":42}")
        ])
        let result = try run("Request", [server.url.absoluteString])

        #expect(result.status == 0)
        #expect(result.output.contains("13 13 13\n"))
        #expect(result.output.contains("\"answer\": 42"))
    }

    @Test func aRequestThatFailsShowsItsError() throws {
        let server = try ScriptedServer([.respond(404, [:], body: "no")])
        let result = try run("Request", [server.url.absoluteString])

        #expect(result.status == 1)
        #expect(result.output.contains("404"))
    }

    @Test func aBatchCountsItsMembers() throws {
        let server = try ScriptedServer { request in .respond(body: .text(request.path)) }
        let urls = (0..<5).map { server.url(path: "/\($0)").absoluteString }
        let result = try run("Batch", urls)

        #expect(result.status == 0)
        #expect(result.output == (1...5).map { "\($0) of 5\n" }.joined() + "all 5\n")
        #expect(server.requests.count == 5)
    }

    @Test func aDownloadThatWasPausedIsComplete() throws {
        let body = PatternBody(length: 2 << 20)
        let server = try ScriptedServer(
            serving: Representation(.pattern(body), entityTag: .strong("v1"))
        )
        let directory = try TemporaryDirectory()
        let file = directory.file("big")
        let result = try run("PauseAndResume", [server.url.absoluteString, file.path])

        #expect(result.status == 0)
        #expect(try body.firstDifference(fromFile: file) == nil)
    }

    @Test func aManagerAnswersToCallbacksAndToAwait() throws {
        let server = try ScriptedServer { _ in
            .respond(200, ["Content-Type": "application/json"], body: "[{\"name\":\"Ada\"}]")
        }
        // The example asks port 8080, which is somebody else's: as its proxy we get what it asks.
        let result = try run("Manager", [], ["http_proxy": server.url.absoluteString])

        #expect(result.status == 0)
        #expect(result.output.contains("Ada"))
        #expect(
            server.requests.map(\.target)
                == Array(repeating: "http://127.0.0.1:8080/api/users?page=2", count: 2)
        )
    }

    private func run(
        _ name: String,
        _ arguments: [String],
        _ environment: [String: String] = [:]
    ) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(examplesDirectory)).appendingPathComponent(
            name
        )
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }
}
