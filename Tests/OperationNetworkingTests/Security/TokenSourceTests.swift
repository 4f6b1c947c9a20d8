import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Tokens, and getting another one once for all.
@Suite(.timeLimit(.minutes(1)))
struct TokenSourceTests {
    private let door = Door()

    private struct NoToken: Error {}

    /// Lets in a request with the token of that value.
    private func server(for token: String) throws -> ScriptedServer {
        try door.server(for: "Bearer \(token)", challenge: "Bearer error=\"invalid_token\"")
    }

    private func operation(_ url: URL, _ source: TokenSource) -> HTTPRequestOperation {
        let operation = door.operation(url)
        operation.tokenSource = source
        return operation
    }

    @Test func theTokenIsSentAtOnce() async throws {
        let server = try server(for: "a")
        let source = TokenSource(TokenSource.Token("a")) { _ in throw NoToken() }
        #expect(await operation(server.url, source).status() == 200)
        #expect(server.authorizations == ["Bearer a"])
    }

    @Test func theFirstTokenIsWaitedFor() async throws {
        let server = try server(for: "a")
        let source = TokenSource { last in
            #expect(last == nil)
            return TokenSource.Token("a")
        }
        #expect(await operation(server.url, source).status() == 200)
        #expect(server.authorizations == ["Bearer a"])
        #expect(source.token?.value == "a")
    }

    @Test func theManagerItselfMayFetchTheToken() async throws {
        let server = try ScriptedServer([.respond(), .respond()])
        let manager = OperationManager(baseURL: server.url)
        manager.responseSerializer = HTTPResponseSerializer()
        manager.tokenSource = TokenSource { [weak manager] _ in
            _ = try await manager?.get("token")
            return TokenSource.Token("a")
        }
        _ = try await manager.get("secret")
        #expect(server.requests.map { $0["Authorization"] } == [nil, "Bearer a"])
        #expect(server.requests.map(\.path) == ["/token", "/secret"])
    }

    @Test func anExpiredTokenIsNotSent() async throws {
        let server = try server(for: "b")
        let old = TokenSource.Token("a", expiry: Date(timeIntervalSinceNow: -1))
        let source = TokenSource(old) { last in
            #expect(last == old)
            return TokenSource.Token("b", expiry: Date(timeIntervalSinceNow: 1000))
        }
        #expect(await operation(server.url, source).status() == 200)
        #expect(await operation(server.url, source).status() == 200)
        #expect(server.authorizations == ["Bearer b", "Bearer b"])
    }

    @Test func aRefusedTokenIsReplacedAndTheRequestSentAgain() async throws {
        let server = try server(for: "b")
        let source = TokenSource(TokenSource.Token("a")) { last in
            TokenSource.Token(last?.value == "a" ? "b" : "c")
        }
        var request = URLRequest(url: server.url)
        request.httpMethod = "POST"
        request.httpBody = Data("body".utf8)
        let operation = door.operation(request)
        operation.tokenSource = source
        operation.start()
        #expect(try await operation.value as? Data == Data("open to POST body".utf8))
        #expect(server.authorizations == ["Bearer a", "Bearer b"])
    }

    @Test func a401WithoutAChallengeIsARefusalAnyway() async throws {
        let server = try ScriptedServer { request in
            request["Authorization"] == "Bearer b" ? .respond(body: "open") : .respond(401, body: "closed")
        }
        let source = TokenSource(TokenSource.Token("a")) { _ in TokenSource.Token("b") }
        #expect(await operation(server.url, source).status() == 200)
    }

    @Test func aNewTokenThatIsRefusedAsWellIsTheEnd() async throws {
        let server = try server(for: "never")
        let refreshes = Recorder<String?>()
        let source = TokenSource(TokenSource.Token("0")) { last in
            refreshes.append(last?.value)
            return TokenSource.Token("\(refreshes.elements.count)")
        }
        let operation = operation(server.url, source)
        #expect(await operation.status() == 401)
        #expect(operation.responseString == "closed")
        #expect(server.authorizations == ["Bearer 0", "Bearer 1"])
        #expect(refreshes.elements == ["0"])
    }

    @Test func aRefreshThatFailsFailsTheOperation() async throws {
        let server = try server(for: "b")
        let attempts = Recorder<Int>()
        let source = TokenSource(TokenSource.Token("a")) { _ in
            attempts.append(1)
            if attempts.elements.count == 1 { throw NoToken() }
            return TokenSource.Token("b")
        }
        let first = operation(server.url, source)
        first.start()
        await #expect(throws: NoToken.self) { try await first.value }
        #expect(source.token == nil)
        // The next one asks again, before it sends anything.
        #expect(await operation(server.url, source).status() == 200)
        #expect(server.authorizations == ["Bearer a", "Bearer b"])
    }

    /// The body is gone; the next upload does not send its own for nothing.
    @Test func aTokenThatWasRefusedToABodyThatCanBeReadOnceIsReplaced() async throws {
        let server = try server(for: "b")
        let refreshes = Recorder<String?>()
        let source = TokenSource(TokenSource.Token("a")) { last in
            refreshes.append(last?.value)
            return TokenSource.Token("b")
        }
        var codes: [URLError.Code?] = []
        for _ in 0..<3 {
            var request = URLRequest(url: server.url)
            request.httpMethod = "POST"
            let operation = door.operation(request)
            operation.tokenSource = source
            operation.inputStream = InputStream(data: Data("body".utf8))
            operation.start()
            do {
                _ = try await operation.value
                codes.append(nil)
            } catch {
                codes.append((error as? URLError)?.code)
            }
        }
        #expect(codes == [.requestBodyStreamExhausted, nil, nil])
        #expect(server.authorizations == ["Bearer a", "Bearer b", "Bearer b"])
        #expect(refreshes.elements == ["a"])
    }

    @Test(arguments: ["a\r\nX: y", "", "a b"])
    func anInvalidTokenIsAnError(_ token: String) async throws {
        let server = try server(for: "a")
        let operation = operation(server.url, TokenSource(TokenSource.Token(token)) { _ in throw NoToken() })
        operation.start()
        await #expect(throws: CredentialError.self) { try await operation.value }
        #expect(server.requests.isEmpty)
    }

    @Test func theCallersOwnFieldIsLeftAlone() async throws {
        let server = try server(for: "a")
        var request = URLRequest(url: server.url)
        request.setValue("Own", forHTTPHeaderField: "Authorization")
        let operation = door.operation(request)
        operation.tokenSource = TokenSource { _ in throw NoToken() }
        #expect(await operation.status() == 401)
        #expect(server.authorizations == ["Own"])
    }

    @Test func anotherOriginGetsNoToken() async throws {
        let other = try server(for: "a")
        let server = try ScriptedServer([.redirect(to: other.url.absoluteString)])
        let source = TokenSource(TokenSource.Token("a")) { _ in TokenSource.Token("a") }
        #expect(await operation(server.url, source).status() == 401)
        #expect(server.authorizations == ["Bearer a"] && other.authorizations == ["-"])
    }

    @Test func theCredentialComesAfterTheToken() async throws {
        let server = try ScriptedServer { [door] request in
            request["Authorization"] == door.aliceField
                ? .respond(body: "open") : Door.closed("Bearer", "Basic realm=a")
        }
        let operation = operation(
            server.url,
            TokenSource(TokenSource.Token("a")) { _ in TokenSource.Token("b") }
        )
        operation.credential = door.alice
        #expect(await operation.status() == 200)
        #expect(server.authorizations == ["Bearer a", "Bearer b", door.aliceField])
    }

    // MARK: - Tokens that expire

    /// The clock of one of them is wrong. To fetch another one would never end.
    @Test func aTokenThatHasExpiredWhenItComesIsSent() async throws {
        let server = try server(for: "b")
        let refreshes = Recorder<Int>()
        let source = TokenSource { _ in
            refreshes.append(1)
            return TokenSource.Token("b", expiry: Date(timeIntervalSinceNow: -1000))
        }
        #expect(await operation(server.url, source).status() == 200)
        #expect(refreshes.elements.count == 1)
    }

    enum Kind: CaseIterable { case get, upload, download }

    /// By the time there is a connection.
    @Test(arguments: Kind.allCases)
    func aTokenThatExpiresWhileWaitingIsNotSent(by kind: Kind) async throws {
        let gate = Gate()
        let server = try ScriptedServer { request in
            request.path == "/first"
                ? .respond(body: "x").held(by: gate) : .respond(body: .text(request.text))
        }
        let folder = try TemporaryDirectory()
        let refreshes = Recorder<String?>()
        let expiry = Date(timeIntervalSinceNow: 1)
        let source = TokenSource(TokenSource.Token("a", expiry: expiry)) { last in
            refreshes.append(last?.value)
            return TokenSource.Token("b")
        }
        let manager = OperationManager()
        manager.maximumConnectionsPerHost = 1
        let settings = manager.readTransferSettings { $0 }
        let first = door.operation(server.url(path: "/first"))
        first.changeTransferSettings { $0 = settings }
        first.start()
        try await gate.waitForArrivals()
        let waiting: HTTPRequestOperation
        switch kind {
        case .get:
            waiting = door.operation(server.url)
        case .upload:
            var request = URLRequest(url: server.url)
            request.httpMethod = "POST"
            waiting = door.operation(request)
            waiting.inputStream = InputStream(data: Data("body".utf8))
        case .download:
            let download = DownloadOperation(request: URLRequest(url: server.url), to: folder.file("a"))
            download.completionQueue = DispatchQueue(label: "callbacks")
            waiting = download
        }
        waiting.changeTransferSettings { $0 = settings }
        waiting.tokenSource = source
        waiting.start()
        DispatchQueue.global().asyncAfter(wallDeadline: .now() + 1.5) { gate.open() }
        _ = try await (first.value, waiting.value)
        #expect(server.authorizations == ["-", "Bearer b"])
        #expect(refreshes.elements == ["a"])
        #expect(server.requests.last?.text == (kind == .upload ? "body" : ""))
    }

    // MARK: - Many at once

    @Test func aHundredOperationsGetOneNewToken() async throws {
        let server = try server(for: "new")
        let refreshes = Recorder<String?>()
        let source = TokenSource(TokenSource.Token("old")) { last in
            refreshes.append(last?.value)
            // Until some more have been refused: they wait for the same token.
            try await server.waitForRequests(count: 6)
            return TokenSource.Token("new")
        }
        let manager = OperationManager(baseURL: server.url)
        manager.completionQueue = DispatchQueue(label: "callbacks")
        manager.responseSerializer = HTTPResponseSerializer()
        manager.tokenSource = source
        manager.operationQueue.maxConcurrentOperationCount = 12
        let operations = (0..<100).map { _ in manager.operation(for: URLRequest(url: server.url)) }
        for operation in operations { manager.operationQueue.addOperation(operation) }
        for operation in operations { _ = try await operation.value }
        #expect(refreshes.elements == ["old"])
        #expect(operations.allSatisfy { $0.response?.statusCode == 200 })
        // No request was refused twice.
        let refused = server.authorizations.filter { $0 == "Bearer old" }.count
        #expect(server.requests.count == 100 + refused)
    }

    @Test func aRefreshThatFailsFailsAllThatWait() async throws {
        let server = try server(for: "new")
        let source = TokenSource(TokenSource.Token("old")) { _ in
            try await server.waitForAnswers(count: 5)
            throw NoToken()
        }
        let operations = (0..<5).map { _ in operation(server.url, source) }
        for operation in operations { operation.start() }
        for operation in operations {
            await #expect(throws: NoToken.self) { try await operation.value }
        }
        #expect(server.requests.count == 5)
    }

    @Test func aTokenWhoseExpiryIsNotANumberCanBeDescribed() {
        let token = TokenSource.Token("secret", expiry: Date(timeIntervalSinceReferenceDate: .nan))
        for text in ["\(token)", String(reflecting: token), "\(Array(token.customMirror.children))"] {
            #expect(text.contains("an expiry that is not a number"))
            #expect(!text.contains("secret"))
        }
    }

    @Test func aTokenWhoseExpiryIsNotANumberGoesWithAFailedRefresh() async throws {
        let server = try server(for: "new")
        let expiry = Date(timeIntervalSinceReferenceDate: .nan)
        let source = TokenSource(TokenSource.Token("old", expiry: expiry)) { _ in throw NoToken() }
        let operation = operation(server.url, source)
        operation.start()
        await #expect(throws: NoToken.self) { try await operation.value }
        // The value alone: Foundation traps where it describes such a date.
        #expect(source.token?.value == nil)
    }

    @Test func cancellingOneDoesNotCancelTheRefreshOfTheOthers() async throws {
        let server = try server(for: "a")
        let (asked, answer) = (Gate(), Gate())
        let source = TokenSource { _ in
            asked.open()
            try await answer.wait()
            return TokenSource.Token("a")
        }
        let first = operation(server.url, source)
        let second = operation(server.url, source)
        first.start()
        try await asked.wait()
        second.start()
        first.cancel()
        let error = await #expect(throws: URLError.self) { try await first.value }
        #expect(error?.code == .cancelled)
        answer.open()
        #expect(try await second.value as? Data == Data("open to GET ".utf8))
        #expect(server.requests.count == 1)
    }

    /// The user logs out, or in as another, while the old account's token is on its way.
    @Test(arguments: [TokenSource.Token("other"), nil])
    func whatIsSetWhileARefreshRunsStays(other: TokenSource.Token?) async throws {
        let server = try server(for: "b")
        let gate = Gate()
        let source = TokenSource(TokenSource.Token("a")) { _ in
            try await gate.wait()
            return TokenSource.Token("b")
        }
        let operation = operation(server.url, source)
        operation.start()
        try await gate.waitForArrivals()
        source.token = other
        gate.open()
        // It was asked for by the old account's operation, which gets it.
        _ = try? await operation.value
        #expect(operation.response?.statusCode == 200)
        #expect(source.token == other)
    }

    @Test func aPauseEndsTheWait() async throws {
        let server = try server(for: "a")
        let (asked, answer) = (Gate(), Gate())
        let source = TokenSource { _ in
            asked.open()
            try await answer.wait()
            return TokenSource.Token("a")
        }
        let operation = operation(server.url, source)
        operation.start()
        try await asked.wait()
        operation.pause()
        answer.open()
        try await networkThreadIsDone()
        #expect(server.requests.isEmpty)
        operation.resume()
        #expect(try await operation.value as? Data == Data("open to GET ".utf8))
    }
}
