import Foundation
import OperationNetworkingTesting
import Testing

@testable import opget

/// The output of `--json`, as a script reads it.
@Suite(.serialized) struct EventTests {
    private let opget: Opget

    init() throws {
        opget = try Opget()
    }

    /// The events without their times, what depends on them, and sentences.
    private func events(_ text: String) throws -> [NSDictionary] {
        try text.split(separator: "\n").map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
            var event = try #require(object as? [String: Any])
            let time = try #require(event.removeValue(forKey: "time") as? String)
            #expect(time.wholeMatch(of: #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/#) != nil)
            if let seconds = event.removeValue(forKey: "seconds") { #expect(seconds is NSNumber) }
            if let error = event.removeValue(forKey: "error") { #expect((error as? String)?.last == ".") }
            event["speed"] = nil
            return event as NSDictionary
        }
    }

    private func names(_ text: String) throws -> [String] {
        try events(text).compactMap { $0["event"] as? String }
    }

    @Test func aRunIsReportedFromItsBeginningToItsEnd() async throws {
        let server = try ScriptedServer(
            routes: [
                "/moved": [.redirect(to: "/a"), .respond(200)],
                "/a": [.respond(200, ["Content-Type": "text/plain; charset=utf-8"], body: "0123456789")],
                "/cut": [.respond(200, body: "0123456789", breakingAfter: 4)],
            ]
        )
        try await opget.write("old", "there", from: server.url(path: "there"))
        let addresses = ["moved", "cut", "none", "there"].map { server.url(path: $0).absoluteString }
        let result = try await opget.start(["--json", "-j", "1", "--retry", "0"] + addresses)
            .result()
        #expect(result.code == 4)
        #expect(result.errorLines.count == 6)
        let expected: [NSDictionary] = [
            ["event": "runStarted", "schema": 1, "opget": OpgetCommand.version, "items": 4, "jobs": 1],
            [
                "event": "itemStarted", "item": 1, "url": addresses[0], "path": "moved",
            ],
            [
                "event": "itemResponded", "item": 1, "url": server.url(path: "a").absoluteString,
                "status": 200,
                "mediaType": "text/plain", "length": 10,
            ],
            [
                "event": "itemFinished", "item": 1, "url": addresses[0], "path": "moved", "result": "saved",
                "bytes": 10, "proof": "length", "status": 200,
            ],
            [
                "event": "itemStarted", "item": 2, "url": addresses[1], "path": "cut",
            ],
            ["event": "itemResponded", "item": 2, "url": addresses[1], "status": 200, "length": 10],
            [
                "event": "itemFinished", "item": 2, "url": addresses[1], "path": "cut", "result": "failed",
                "partialPath": "cut.part", "bytes": 4, "status": 200, "errorClass": "network",
            ],
            [
                "event": "itemStarted", "item": 3, "url": addresses[2], "path": "none",
            ],
            ["event": "itemResponded", "item": 3, "url": addresses[2], "status": 404, "length": 10],
            [
                "event": "itemFinished", "item": 3, "url": addresses[2], "path": "none", "result": "failed",
                "bytes": 0, "status": 404, "errorClass": "server",
            ],
            [
                "event": "itemFinished", "item": 4, "url": addresses[3], "path": "there",
                "result": "alreadyThere", "bytes": 3, "proof": "record",
            ],
            [
                "event": "runFinished", "outcome": "network", "exitCode": 4, "items": 4, "saved": 1,
                "alreadyThere": 1, "upToDate": 0, "failed": 2, "unfinished": 0, "bytes": 10,
            ],
        ]
        let found = try events(result.output).filter { $0["event"] as? String != "progress" }
        #expect(found == expected)
        #expect(result.output.contains("\"error\":\"The server answered 404 (Not Found).\""))
    }

    @Test func progressIsReportedWhileSomethingComes() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(200, body: "0123456789").held(after: 4, by: gate)])
        let address = server.url(path: "a").absoluteString
        let run = try opget.start(["-q", "--json", address])
        try await run.waitForOutput(containing: "\"event\":\"progress\"")
        gate.open()
        let result = try await run.result()
        #expect(result.errors == "")
        let progress = try events(result.output).filter { $0["event"] as? String == "progress" }
        #expect(progress.first == ["event": "progress", "item": 1, "received": 4, "expected": 10])
    }

    /// The reports of an operation never go backwards; the events do.
    @Test func progressIsReportedFromTheBeginningWhenADownloadStartsOver() async throws {
        let gate = Gate()
        let server = try ScriptedServer([
            .respond(200, ["ETag": "\"v1\""], body: "0123456789", breakingAfter: 8),
            .respond(200, ["ETag": "\"v2\""], body: "abcdefghij").held(after: 2, by: gate),
        ])
        let run = try opget.start(["--json", server.url(path: "a").absoluteString])
        try await run.waitForOutput(containing: "\"received\":2")
        gate.open()
        let result = try await run.result()
        #expect(result.code == 0)
        #expect(try opget.text("a") == "abcdefghij")
        let progress = try events(result.output).filter {
            ["itemRestarted", "progress"].contains($0["event"] as? String)
        }
        let expected: [NSDictionary] = [
            ["event": "itemRestarted", "item": 1, "reason": "resourceChanged"],
            ["event": "progress", "item": 1, "received": 2, "expected": 10],
        ]
        #expect(progress.drop { $0["received"] as? Int == 8 }.prefix(2).elementsEqual(expected))
        #expect(!result.errors.contains("resumed at"))
    }

    @Test func aStoppedRunIsReportedToItsEnd() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(200, body: "0123456789").held(after: 4, by: gate)])
        let addresses = ["a", "b"].map { server.url(path: $0).absoluteString }
        let run = try opget.start(["--json", "-j", "1"] + addresses)
        try await run.waitForOutput(containing: "\"event\":\"progress\"")
        run.signal(SIGTERM)
        let result = try await run.result()
        #expect(result.code == -SIGTERM)
        let last: [NSDictionary] = [
            [
                "event": "itemFinished", "item": 1, "url": addresses[0], "path": "a", "result": "stopped",
                "partialPath": "a.part", "bytes": 4, "status": 200,
            ],
            [
                "event": "runFinished", "outcome": "signal", "exitCode": 143, "items": 2, "saved": 0,
                "alreadyThere": 0, "upToDate": 0, "failed": 0, "unfinished": 2, "bytes": 0,
            ],
        ]
        #expect(try events(result.output).suffix(2) == last[...])
    }

    @Test func eventsGoToAnotherDescriptorWhereTheBodyHasStandardOutput() async throws {
        let server = try ScriptedServer([.respond(200, body: "0123456789")])
        let address = server.url(path: "a").absoluteString
        let result = try await opget.start(
            ["-q", "-o", "-", "--json-fd", "3", address],
            redirection: "3>events"
        )
        .result()
        #expect(result.code == 0)
        #expect(result.output == "0123456789")
        let found = try events(try opget.text("events")).filter { $0["event"] as? String != "progress" }
        #expect(found.count == 5)
        #expect(found[1] == ["event": "itemStarted", "item": 1, "url": address])
    }

    @Test(arguments: [
        ["--json", "-o", "-"], ["--json-fd", "1", "-o", "-"], ["--json-fd", "9"], ["--json-fd", "0"],
        ["--json-fd", "2"], ["--json-fd", "-1"],
    ])
    func eventsThatHaveNowhereToGoAreAUsageError(options: [String]) async throws {
        let result = try await opget.start(options + ["http://127.0.0.1:9/a"]).result()
        #expect(result.code == 2)
        #expect(result.output == "")
        #expect(result.errorLines.count == 1)
    }

    @Test func secretsAreInNoEvent() async throws {
        let server = try ScriptedServer([.respond(401), .respond(200, body: "x")])
        let port = server.port
        for code in [6, 0] as [Int32] {
            let result = try await opget.start([
                "--json", "-H", "Authorization: Bearer hidden", "http://user:hidden@127.0.0.1:\(port)/a",
            ])
            .result()
            #expect(result.code == code)
            #expect(result.output.contains("http://127.0.0.1:\(port)/a"))
            #expect(!result.output.contains("hidden"))
            #expect(!result.output.contains("user"))
        }
    }

    @Test func aReaderThatHasHadEnoughOfEventsEndsTheRunQuietly() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(200, body: "0123456789").held(after: 4, by: gate)])
        let address = server.url(path: "a").absoluteString
        let run = try opget.start(["--json", address], closingOutputAfter: 5)
        let result = try await run.result()
        #expect(result.code == 141)
        #expect(result.errors == "")
        #expect(try Set(opget.files()).isSubset(of: ["a.part", "a.part.resume"]))
    }

    @Test func aFullDiskEndsTheRun() async throws {
        let server = try ScriptedServer([.respond(200, body: "0123456789").stalling(after: 4)])
        let address = server.url(path: "a").absoluteString
        let result = try await opget.start(["--json", address], redirection: ">/dev/full").result()
        #expect(result.code == 10)
        #expect(result.errorLines.first == "opget: Events could not be written: No space left on device.")
        #expect(result.errorLines.contains { $0.hasPrefix("Interrupted.") })
    }

    @Test func pausingAndResumingAreReported() async throws {
        let files = try HeldFiles()
        let terminal = try opget.start(inTerminal: ["--json-fd", "1"] + files.addresses)
        try await files.gate.waitForArrivals(3)
        terminal.type("p")
        try await terminal.waitForOutput(containing: "\"event\":\"paused\"")
        terminal.type("p")
        try await terminal.waitForOutput(containing: "\"event\":\"resumed\"")
        files.gate.open()
        #expect(try await terminal.end() == 0)
        let lines = terminal.output.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("{") }
        let names = try names(lines.joined(separator: "\n"))
        #expect(names.contains("paused"))
        #expect(names.contains("resumed"))
        #expect(names.last == "runFinished")
        #expect(!terminal.output.contains("\u{1B}[J"))
    }
}
