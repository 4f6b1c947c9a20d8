import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Attacks with heads, by a server, or by the author of a request's parts.
@Suite(.timeLimit(.minutes(1)))
struct HeadAttackTests {
    private func operation(_ url: URL, _ change: (inout URLRequest) -> Void = { _ in }) -> ConnectionOperation
    {
        var request = URLRequest(url: url)
        change(&request)
        let operation = ConnectionOperation(request: request)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        return operation
    }

    // MARK: - Requests

    @Test(
        arguments: [
            ("X-Name", "a\r\nX-Injected: 1"), ("X-Name", "a\nX-Injected: 1"), ("X-Name", "a\rX-Injected: 1"),
            ("X-Name", "a\u{0}b"), ("X-Name\r\nX-Injected", "1"), ("X-Name: 1\r\nX-Injected", "1"),
            ("X Name", "1"),
            ("Authorization", "Basic a\r\nX-Injected: 1"), ("Cookie", "a=1\r\nX-Injected: 1"),
        ]
    )
    func aFieldCannotBringAnother(name: String, value: String) async throws {
        let server = try ScriptedServer { _ in .respond() }
        let operation = operation(server.url) { $0.allHTTPHeaderFields = [name: value] }
        try await operation.run()
        // Foundation drops some of them; what is left is refused.
        if operation.error == nil {
            let request = try #require(server.requests.first)
            #expect(request["X-Injected"] == nil)
        } else {
            #expect(operation.error is RequestSerializationError)
            #expect(server.requests.isEmpty)
        }
    }

    @Test(arguments: ["GET\r\nX-Injected: 1", "GET / HTTP/1.1\r\nX-Injected: 1\r\n\r\nGET", "G ET", ""])
    func aMethodCannotBringAField(method: String) async throws {
        let server = try ScriptedServer { _ in .respond() }
        let operation = operation(server.url) { $0.httpMethod = method }
        try await operation.run()
        #expect(operation.error is RequestSerializationError || method.isEmpty)
        #expect(server.requests.allSatisfy { $0.method == "GET" && $0["X-Injected"] == nil })
    }

    @Test(
        arguments: [
            "/a%0d%0aX-Injected:%201", "/a?b=%0d%0aX-Injected:%201", "/%00",
            "/a%20HTTP/1.1%0d%0aX-Injected:%201",
        ]
    )
    func anAddressStaysOneLine(path: String) async throws {
        let server = try ScriptedServer { _ in .respond() }
        let url = try #require(URL(string: path, relativeTo: server.url))
        let operation = operation(url)
        try await operation.run()
        #expect(operation.error == nil)
        let request = try #require(server.requests.first)
        #expect(server.requests.count == 1)
        #expect(request.target == path)
        #expect(request["X-Injected"] == nil)
    }

    // MARK: - Responses

    @Test func aHeadWithoutEndIsGivenUp() async throws {
        let line = "X-Field: " + String(repeating: "x", count: 1000) + "\r\n"
        let server = try ScriptedServer([
            .raw(
                text: "HTTP/1.1 200 OK\r\n" + String(repeating: line, count: 1000)
                    + "Content-Length: 0\r\n\r\n"
            )
        ])
        try await expectRefusal(server.url, limit: "300 KiB")
    }

    @Test func aLineWithoutEndIsGivenUp() async throws {
        let server = try ScriptedServer([
            .raw(text: "HTTP/1.1 200 OK\r\nX-Field: " + String(repeating: "x", count: 1_000_000) + "\r\n\r\n")
        ])
        try await expectRefusal(server.url, limit: "100 KiB")
    }

    @Test func interimHeadsWithoutEndAreGivenUp() async throws {
        let server = try ScriptedServer([
            .raw(text: String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", count: 10_000))
        ])
        try await expectRefusal(server.url, limit: "300 KiB")
    }

    @Test func trailersWithoutEndAreGivenUp() async throws {
        let trailers = String(
            repeating: "X-Trailer: " + String(repeating: "x", count: 1000) + "\r\n",
            count: 1000
        )
        let server = try ScriptedServer([
            .raw(
                text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n" + trailers
                    + "\r\n"
            )
        ])
        try await expectRefusal(server.url, limit: "300 KiB", hasResponse: true)
    }

    @Test func aTrailerWithoutEndIsGivenUp() async throws {
        let server = try ScriptedServer([
            .raw(
                text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nX-Trailer: "
                    + String(repeating: "x", count: 10_000) + "\r\n\r\n"
            )
        ])
        try await expectRefusal(server.url, limit: "4 KiB", hasResponse: true)
    }

    /// Bytes after a complete answer are not the answer to the next request: the connection is not used
    /// again.
    @Test func anUnrequestedSecondResponseIsDiscarded() async throws {
        let split =
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
            + "HTTP/1.1 200 OK\r\nX-Injected: 1\r\nContent-Length: 4\r\n\r\nevil"
        let server = try ScriptedServer([.raw(text: split, keepingOpen: true), .respond(body: "good")])
        let first = operation(server.url)
        try await first.run()
        #expect(first.responseData == Data("ok".utf8))
        let second = operation(server.url)
        try await second.run()
        #expect(second.responseData == Data("good".utf8))
        #expect(second.response?.value(forHTTPHeaderField: "X-Injected") == nil)
    }

    private func expectRefusal(_ url: URL, limit: String, hasResponse: Bool = false) async throws {
        let operation = operation(url)
        try await operation.run()
        let error = try #require(operation.error as? URLError)
        #expect(error.code == .badServerResponse)
        #expect(error.curlCode == nil)
        // libcurl 8.14 counts fields, and meets that limit before we meet ours.
        let sentences = ["longer than \(limit)", "more than 5000 fields"]
        #expect(sentences.contains { error.localizedDescription.contains($0) }, "\(error)")
        #expect((operation.response != nil) == hasResponse)
    }
}

extension Answer {
    fileprivate static func raw(text: String, keepingOpen: Bool = false) -> Answer {
        .raw(AnswerBody(stringLiteral: text), keepingOpen: keepingOpen)
    }
}
