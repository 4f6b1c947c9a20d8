import Foundation
import OperationNetworkingTesting
import Testing

@testable import opget

/// `-N`: only what has changed.
@Suite(.serialized) struct TimestampingTests {
    private let opget: Opget
    private let date = Date(timeIntervalSince1970: 1_700_000_000)

    init() throws {
        opget = try Opget()
    }

    @Test func aMissingFileIsFetched() async throws {
        let server = try ScriptedServer(
            serving: Representation("one", entityTag: .strong("v1"), lastModified: date)
        )
        #expect(try await opget("-N", server.url(path: "a").absoluteString).code == 0)
        #expect(try opget.text("a") == "one")
        #expect(server.requests[0]["If-None-Match"] == nil)
        #expect(server.requests[0]["If-Modified-Since"] == nil)
    }

    @Test func aFileThatHasNotChangedIsUpToDate() async throws {
        let server = try ScriptedServer(
            serving: Representation("one", entityTag: .strong("v1"), lastModified: date)
        )
        let address = server.url(path: "a").absoluteString
        #expect(try await opget(address).code == 0)
        let result = try await opget("-N", "--json", address)
        #expect(result.code == 0)
        #expect(result.errors == "a: up to date\n")
        #expect(result.output.contains("\"result\":\"upToDate\""))
        #expect(result.output.contains("\"upToDate\":1"))
        #expect(result.output.contains("\"status\":304"))
        // By the tag where the file system can keep it, else by the date.
        let request = server.requests[1]
        #expect(request["If-None-Match"] == "\"v1\"" || request["If-Modified-Since"] != nil)
        #expect(try opget.text("a") == "one")
        #expect(try opget.files() == ["a"])
    }

    @Test func aFileThatHasChangedIsReplaced() async throws {
        let server = try ScriptedServer(
            serving: Representation("one", entityTag: .strong("v1"), lastModified: date)
        )
        let address = server.url(path: "a").absoluteString
        #expect(try await opget(address).code == 0)
        server.setRepresentation(
            Representation("two", entityTag: .strong("v2"), lastModified: date.addingTimeInterval(60))
        )
        #expect(try await opget("-N", address).code == 0)
        #expect(try opget.text("a") == "two")
        let result = try await opget("-N", address)
        #expect(result.errors == "a: up to date\n")
        #expect(try opget.files() == ["a"])
    }

    @Test func withoutATagTheDateSaysIt() async throws {
        let server = try ScriptedServer(serving: Representation("one", lastModified: date))
        let address = server.url(path: "a").absoluteString
        #expect(try await opget("-N", address).code == 0)
        let time = try FileManager.default.attributesOfItem(atPath: opget.directory.file("a").path)[
            .modificationDate
        ]
        #expect(time as? Date == date)
        #expect(try await opget("-N", address).errors == "a: up to date\n")
        #expect(server.requests[1]["If-Modified-Since"] == "Tue, 14 Nov 2023 22:13:20 GMT")
        server.setRepresentation(Representation("two", lastModified: date.addingTimeInterval(1)))
        #expect(try await opget("-N", address).code == 0)
        #expect(try opget.text("a") == "two")
    }

    @Test func aFileOfSomebodyElsesIsReplaced() async throws {
        let server = try ScriptedServer(
            serving: Representation("new", entityTag: .strong("v1"), lastModified: date)
        )
        try opget.write("old", "a")
        #expect(try await opget("-N", server.url(path: "a").absoluteString).code == 0)
        #expect(try opget.text("a") == "new")
    }

    @Test func aLinkIsNoReasonToFailWhileNothingHasChanged() async throws {
        let server = try ScriptedServer(
            serving: Representation("one", entityTag: .strong("v1"), lastModified: date)
        )
        let address = server.url(path: "a").absoluteString
        #expect(try await opget("-o", "b", address).code == 0)
        let link = opget.directory.file("a").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "b")
        let result = try await opget("-N", address)
        #expect(result.code == 0)
        #expect(result.errors == "a: up to date\n")
        #expect(server.requests.last?["If-None-Match"] == "\"v1\"")
        server.setRepresentation(Representation("two", entityTag: .strong("v2"), lastModified: date))
        #expect(try await opget("-N", address).code == 3)
        #expect(try opget.text("b") == "one")
    }

    /// Some servers send the length of the 304's own body.
    @Test func a304MayAnnounceAnEmptyBody() async throws {
        let server = try ScriptedServer([
            .respond(200, ["ETag": "\"v1\""], body: "one"),
            .respond(304, ["ETag": "\"v1\"", "Content-Length": "0"]),
            .respond(304, ["ETag": "\"v1\"", "Content-Length": "4"]),
            .respond(200, ["ETag": "\"v1\""], body: "four"),
        ])
        let address = server.url(path: "a").absoluteString
        #expect(try await opget(address).code == 0)
        #expect(try await opget("-N", address).errors == "a: up to date\n")
        #expect(server.requests.count == 2)
        // Another length is that of another file.
        #expect(try await opget("-N", address).code == 0)
        #expect(server.requests.count == 4)
        #expect(try opget.text("a") == "four")
    }

    @Test func aServerThatFailsLeavesTheFile() async throws {
        let server = try ScriptedServer([.respond(404)])
        try opget.write("old", "a")
        #expect(try await opget("-N", server.url(path: "a").absoluteString).code == 8)
        #expect(try opget.text("a") == "old")
    }

    @Test func anUnrequested304IsAnError() async throws {
        let server = try ScriptedServer([.respond(304)])
        #expect(try await opget("-N", server.url(path: "a").absoluteString).code == 8)
        #expect(try opget.files() == [])
    }
}
