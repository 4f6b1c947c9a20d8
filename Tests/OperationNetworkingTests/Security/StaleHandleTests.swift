import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// libcurl keeps, through `curl_easy_reset`, an `Authorization` that was made for a request and was not sent: as here, where
/// a body of unknown length cannot go to a server of HTTP/1.0.
@Suite(.timeLimit(.minutes(1)))
struct StaleHandleTests {
    private func run(_ request: URLRequest, _ configure: (ConnectionOperation) -> Void = { _ in })
        async throws
        -> ConnectionOperation
    {
        let operation = ConnectionOperation(request: request)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.cookieJar = nil
        configure(operation)
        try await operation.run()
        return operation
    }

    @Test(arguments: [
        "Digest realm=\"r\", nonce=\"n\", qop=\"auth\"", "Basic realm=\"r\"",
    ])
    func whatWasNotSentIsNotSentToAnother(challenge: String) async throws {
        let old = try ScriptedServer { _ in
            .raw(
                AnswerBody(
                    stringLiteral: "HTTP/1.0 401 Unauthorized\r\nWWW-Authenticate: \(challenge)\r\n"
                        + "Content-Length: 0\r\nConnection: keep-alive\r\n\r\n"
                ),
                keepingOpen: true
            )
        }
        let other = try ScriptedServer { _ in .respond(body: "ok") }
        // A domain that no other test uses, so that its handles are these.
        let anchors = TrustAnchors.file(URL(fileURLWithPath: "/\(UUID().uuidString)"))
        for _ in 0..<3 {
            var request = URLRequest(url: old.url)
            request.httpMethod = "PUT"
            let credential = Credential(user: "alice", password: "secret")
            _ = try await run(request) { operation in
                operation.trustAnchors = anchors
                operation.credential = credential
                operation.inputStream = InputStream(data: Data("0123456789".utf8))
                operation.setBodyStreamProvider { InputStream(data: Data("0123456789".utf8)) }
            }
            _ = try await run(URLRequest(url: other.url)) { $0.trustAnchors = anchors }
        }
        #expect(other.requests.count == 3)
        #expect(other.requests.allSatisfy { $0["Authorization"] == nil })
    }

    /// Of libcurl 7.88 that a handle of an earlier response still knew, freed memory would be read.
    @Test func aHeadThatBeginsWithAContinuationIsMalformed() async throws {
        let server = try ScriptedServer { request in
            request.path == "/good"
                ? .respond(200, ["X-Long": String(repeating: "x", count: 3000)], body: "ok")
                : .raw("HTTP/1.1 200 OK\r\n continued: a\r\nContent-Length: 0\r\n\r\n")
        }
        for _ in 0..<5 {
            for path in ["good", "bad"] {
                let end = try await TestTransfer(.plain(server.url.appendingPathComponent(path))).start()
                    .end()
                guard path == "bad" else {
                    #expect(end.operationError == nil)
                    continue
                }
                #expect(end.sentence?.contains("continues a field that does not exist") == true)
            }
        }
    }

    @Test func aTransferWhoseOptionsAreRefusedIsReleased() async throws {
        // Longer than any text that libcurl takes.
        let long = try #require(URL(string: "http://127.0.0.1:1/" + String(repeating: "a", count: 8_000_001)))
        weak var transfer: TestTransfer?
        do {
            let started = TestTransfer(.plain(long)).start()
            transfer = started
            let error = try await started.end().operationError as? URLError
            #expect(error?.curlCode != nil)
        }
        try await networkThreadIsDone()
        #expect(transfer == nil)
    }

    @Test func dumpingShowsNoSecret() async throws {
        let url = try #require(URL(string: "http://me:hunter2@127.0.0.1:1/"))
        var request = URLRequest(url: url)
        request.setValue("hunter2", forHTTPHeaderField: "Authorization")
        let operation = HTTPRequestOperation(request: request)
        operation.credential = Credential(user: "me", password: "hunter2")
        let manager = OperationManager(baseURL: url)
        manager.credential = operation.credential
        let jar = CookieJar()
        let cookie = HTTPCookie(properties: [
            .name: "session", .value: "hunter2", .domain: "127.0.0.1", .path: "/",
        ])
        jar.set(try #require(cookie))
        for value in [operation, manager, jar] as [Any] {
            var text = ""
            dump(value, to: &text)
            #expect(!text.contains("hunter2") && !"\(value)".contains("hunter2"))
        }
    }
}
