import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Attacks of a server by a redirect.
@Suite(.timeLimit(.minutes(1)))
struct RedirectAttackTests {
    private static let secrets = [
        "Authorization", "Cookie", "Proxy-Authorization", "X-Api-Key", "Api-Key", "X-Auth-Token",
        "X-Amz-Security-Token", "X-CSRF-Token",
    ]

    private func request(_ url: URL, _ method: String = "GET") -> URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = method
        for name in Self.secrets + ["X-Other"] { request.setValue("secret", forHTTPHeaderField: name) }
        return request
    }

    private func operation(_ request: URLRequest, _ policy: RedirectPolicy? = nil) -> HTTPRequestOperation {
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        // Other tests put cookies of this machine into the shared one.
        operation.cookieJar = nil
        if let policy { operation.redirectPolicy = policy }
        operation.start()
        return operation
    }

    /// The names of the secrets that came with a request.
    private func secrets(in request: ReceivedRequest?) -> [String] {
        Self.secrets.filter { request?[$0] != nil }
    }

    /// The same address in another spelling, which is another origin.
    private func localhost(_ server: ScriptedServer, _ path: String = "/") -> String {
        "http://localhost:\(server.port)\(path)"
    }

    // MARK: - Secrets

    @Test(arguments: [301, 302, 303, 307, 308])
    func secretsDoNotGoToAnotherPort(status: Int) async throws {
        let other = try ScriptedServer { _ in .respond(body: "x") }
        let server = try ScriptedServer([.redirect(to: other.url.absoluteString, statusCode: status)])
        _ = try await operation(request(server.url)).value
        #expect(secrets(in: other.requests.first).isEmpty)
        #expect(other.requests.first?["X-Other"] == "secret")
    }

    @Test func secretsDoNotGoToAnotherNameOfTheSameServer() async throws {
        let server = try ScriptedServer { _ in .respond(body: "x") }
        let target = localhost(server)
        let first = try ScriptedServer([.redirect(to: target)])
        _ = try await operation(request(first.url)).value
        #expect(server.requests.first?["Host"] == "localhost:\(server.port)")
        #expect(secrets(in: server.requests.first).isEmpty)
    }

    @Test func secretsDoNotComeBackFromAnotherOrigin() async throws {
        let back = Recorder<String>()
        let other = try ScriptedServer { _ in .redirect(to: back.elements.first ?? "/") }
        let server = try ScriptedServer([.redirect(to: other.url.absoluteString), .respond(body: "x")])
        back.append(server.url(path: "/back").absoluteString)
        _ = try await operation(request(server.url)).value
        #expect(server.requests.map(\.path) == ["/", "/back"])
        #expect(!secrets(in: server.requests.first).isEmpty)
        #expect(secrets(in: server.requests.last).isEmpty)
    }

    @Test func secretsOfAPostDoNotGoAlongWithItsBody() async throws {
        let other = try ScriptedServer { _ in .respond(body: "x") }
        let server = try ScriptedServer([.redirect(to: other.url.absoluteString, statusCode: 307)])
        var asked = request(server.url, "POST")
        asked.httpBody = Data("body".utf8)
        _ = try await operation(asked).value
        let crossed = try #require(other.requests.first)
        #expect(crossed.method == "POST" && crossed.text == "body")
        #expect(secrets(in: crossed).isEmpty)
    }

    @Test func credentialsInALocationAreNotSent() async throws {
        let other = try ScriptedServer { _ in .respond(body: "x") }
        let server = try ScriptedServer { request in
            request.path == "/"
                ? .redirect(to: "http://user:password@127.0.0.1:\(request.headerPort)/again")
                : .redirect(to: "http://user:password@localhost:\(other.port)/")
        }
        var asked = URLRequest(url: server.url)
        asked.setValue("x", forHTTPHeaderField: "X-Other")
        let operation = operation(asked)
        _ = try await operation.value
        #expect((server.requests + other.requests).allSatisfy { $0["Authorization"] == nil })
        #expect(operation.response?.url?.user == nil)
    }

    @Test func credentialsInTheURLStayAtTheirOrigin() async throws {
        let other = try ScriptedServer { _ in .respond(body: "x") }
        let server = try ScriptedServer([.redirect(to: localhost(other))])
        let url = try #require(URL(string: "http://user:password@127.0.0.1:\(server.port)/"))
        _ = try await operation(URLRequest(url: url)).value
        #expect(other.requests.first?["Authorization"] == nil)
    }

    // MARK: - Where to

    @Test(arguments: [
        "file:///etc/passwd", "ftp://127.0.0.1/", "data:,x", "javascript:alert(1)", "", "http://",
        "http://a\\b/",
        "/a\u{1}b",
    ])
    func aRedirectWithAnUnusableLocationIsTheResponse(location: String) async throws {
        let server = try ScriptedServer([.respond(302, ["Location": location], body: "moved")])
        let operation = operation(URLRequest(url: server.url))
        await #expect(throws: ResponseSerializationError.self) { try await operation.value }
        #expect(operation.response?.statusCode == 302)
        #expect(operation.responseString == "moved")
        #expect(server.requests.count == 1)
    }

    @Test func severalLocationsThatDifferAreAnError() async throws {
        let server = try ScriptedServer([
            .raw("HTTP/1.1 302 Found\r\nLocation: /a\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n")
        ])
        let error = await #expect(throws: URLError.self) {
            try await operation(URLRequest(url: server.url)).value
        }
        #expect(error?.code == .badServerResponse)
        #expect(error?.localizedDescription == "The server sent 2 different Location fields.")
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [(0, "0 times"), (1, "1 time"), (5, "5 times")])
    func aLoopEndsInAnErrorThatSaysHowOften(count: Int, text: String) async throws {
        let server = try ScriptedServer { _ in .redirect(to: "/again") }
        let error = await #expect(throws: URLError.self) {
            try await operation(URLRequest(url: server.url), RedirectPolicy(maximumCount: count)).value
        }
        #expect(error?.code == .httpTooManyRedirects)
        #expect(error?.localizedDescription == "The server redirected more than \(text).")
        #expect(server.requests.count == count + 1)
    }

    /// The address may set a cookie, or be busy.
    @Test func aRedirectToTheSameAddressIsFollowed() async throws {
        let server = try ScriptedServer([.redirect(to: "/"), .redirect(to: "/"), .respond(body: "x")])
        #expect(try await operation(URLRequest(url: server.url)).value as? Data == Data("x".utf8))
        #expect(server.requests.count == 3)
    }

    // MARK: - The policy

    @Test func aRefusingPolicyReturnsTheRedirectWithoutCallingClosures() async throws {
        let server = try ScriptedServer([.respond(302, ["Location": "/there"], body: "moved")])
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.redirectPolicy = .refuse
        let asked = Recorder<URLRequest>()
        operation.setRedirect { _, request, _ in
            asked.append(request)
            return request
        }
        operation.start()
        await #expect(throws: ResponseSerializationError.self) { try await operation.value }
        #expect(operation.responseString == "moved")
        #expect(asked.elements.isEmpty)
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [false, true])
    func aPostStaysAPostOnlyIfThePolicyAllowsIt(keepsPost: Bool) async throws {
        let server = try ScriptedServer([.redirect(to: "/there", statusCode: 301), .respond(body: "x")])
        var asked = URLRequest(url: server.url)
        asked.httpMethod = "POST"
        asked.httpBody = Data("body".utf8)
        var policy = RedirectPolicy()
        policy.keepsPost = keepsPost
        _ = try await operation(asked, policy).value
        #expect(server.requests.last?.method == (keepsPost ? "POST" : "GET"))
        #expect(server.requests.last?.text == (keepsPost ? "body" : ""))
    }

    @Test func managersGiveTheirPolicyToOperationsCopiesAndArchives() throws {
        let manager = OperationManager()
        #expect(manager.redirectPolicy == .follow)
        let policy = RedirectPolicy(maximumCount: 3)
        manager.redirectPolicy = policy
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        let made = manager.operation(for: URLRequest(url: url))
        #expect(made.redirectPolicy == policy)
        #expect((made.copy() as? ConnectionOperation)?.redirectPolicy == policy)
        #expect((manager.copy() as? OperationManager)?.redirectPolicy == policy)
        let kept = try JSONEncoder().encode(try manager.archive)
        let archive = try JSONDecoder().decode(OperationManagerArchive.self, from: kept)
        #expect(OperationManager(archive: archive).redirectPolicy == policy)
        let keptOperation = try JSONEncoder().encode(try #require(made.archive))
        let operationArchive = try JSONDecoder().decode(OperationArchive.self, from: keptOperation)
        #expect(ConnectionOperation(archive: operationArchive).redirectPolicy == policy)
    }
}

extension ReceivedRequest {
    /// The port in its `Host` field.
    fileprivate var headerPort: String {
        self["Host"]?.split(separator: ":").last.map { String($0) } ?? ""
    }
}
