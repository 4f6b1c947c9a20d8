import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// http URLs through an HTTP proxy: it gets the request, and what it answers looks like the server's answer.
@Suite(.timeLimit(.minutes(1)))
struct PlainProxyTests {
    /// No such server: only a proxy can answer for it.
    private static let target = "http://server.example:8080/path?query"

    private func operation(
        through proxy: String,
        _ method: String = "GET",
        _ url: String = PlainProxyTests.target,
        body: Data? = nil,
        fields: [String: String] = [:],
        exceptions: [String] = []
    ) throws -> HTTPRequestOperation {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = method
        request.httpBody = body
        request.allHTTPHeaderFields = fields
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.proxyConfiguration = .proxy(try Proxy(proxy), exceptions: exceptions)
        operation.start()
        return operation
    }

    private func failure(of operation: HTTPRequestOperation) async throws -> ProxyError? {
        await #expect(throws: ProxyError.self) { try await operation.value }
    }

    /// 407 until the credentials of Basic are right.
    private func guarded(_ name: String = "user", _ password: String = "pass word") throws -> ScriptedServer {
        let right = "Basic " + Data("\(name):\(password)".utf8).base64EncodedString()
        return try ScriptedServer { request in
            request["Proxy-Authorization"] == right
                ? .respond(body: "\(request.method) \(request.target) \(request.text.count)")
                : .respond(407, ["Proxy-Authenticate": "Basic realm=\"proxy\""], body: "no")
        }
    }

    // MARK: - Bodies that libcurl reads by itself

    @Test(arguments: [(150_000, true), (1 << 40, false)])
    func aPageOfTheProxyMayBeLongButEnds(length: Int, isRead: Bool) async throws {
        let proxy = try ScriptedServer { request in
            request["Proxy-Authorization"] != nil
                ? .respond(body: "x")
                : .respond(407, ["Proxy-Authenticate": "Basic realm=x"], body: .generated(length: length))
                    .chunked()
        }
        let operation = try operation(through: "user:p@127.0.0.1:\(proxy.port)")
        guard !isRead else {
            #expect(try await operation.value as? Data == Data("x".utf8))
            return
        }
        let error = try await failure(of: operation)
        #expect(
            error
                == .failed(
                    proxy: "http://127.0.0.1:\(proxy.port)",
                    reason: "its response does not end",
                    isTemporary: false
                )
        )
        #expect(proxy.requests.count == 1)
    }

    // MARK: - Requests

    @Test func theProxyGetsTheWholeAddress() async throws {
        let proxy = try ScriptedServer([.respond(body: "x")])
        let operation = try operation(through: "127.0.0.1:\(proxy.port)")
        #expect(try await operation.value as? Data == Data("x".utf8))
        let request = try #require(proxy.requests.first)
        #expect(request.target == Self.target && request["Host"] == "server.example:8080")
        #expect(operation.response?.url?.absoluteString == Self.target)
    }

    @Test func anExceptionGoesStraightToItsServer() async throws {
        let proxy = try ScriptedServer([.respond(body: "proxy")])
        let server = try ScriptedServer([.respond(body: "server")])
        let operation = try operation(
            through: "127.0.0.1:\(proxy.port)",
            "GET",
            server.url.absoluteString,
            exceptions: ["127.0.0.0/8"]
        )
        #expect(try await operation.value as? Data == Data("server".utf8))
        #expect(server.requests.first?.target == "/")
        #expect(proxy.connectionsAccepted == 0)
    }

    @Test func eachHopOfARedirectRequestsItsOwnProxy() async throws {
        let server = try ScriptedServer([.respond(body: "server")])
        let proxy = try ScriptedServer([.redirect(to: server.url.absoluteString)])
        let operation = try operation(through: "127.0.0.1:\(proxy.port)", exceptions: ["127.0.0.1"])
        #expect(try await operation.value as? Data == Data("server".utf8))
        #expect(proxy.requests.map(\.target) == [Self.target])
    }

    @Test func aConnectionToAProxyIsKeptForOtherServers() async throws {
        let proxy = try ScriptedServer { _ in .respond(body: "x") }
        for host in ["a", "b", "a"] {
            _ = try await operation(through: "127.0.0.1:\(proxy.port)", "GET", "http://\(host).example/")
                .value
        }
        #expect(proxy.requests.map { $0["Host"] ?? "" } == ["a.example", "b.example", "a.example"])
        #expect(proxy.requests.allSatisfy { $0["Proxy-Authorization"] == nil })
    }

    // MARK: - 407

    @Test(arguments: [nil, Data("0123456789".utf8), Data(repeating: 1, count: 1_000_000)])
    func a407IsAnsweredWithTheCredentialsAlsoToAPost(body: Data?) async throws {
        let proxy = try guarded()
        let operation = try operation(
            through: "user:pass%20word@127.0.0.1:\(proxy.port)",
            body == nil ? "GET" : "POST",
            body: body
        )
        let text = "\(body == nil ? "GET" : "POST") \(Self.target) \(body?.count ?? 0)"
        #expect(try await operation.value as? Data == Data(text.utf8))
        #expect(operation.response?.statusCode == 200)
        #expect(proxy.requests.last?["Authorization"] == nil)
    }

    @Test(arguments: ["", "user:wrong@", "other:pass%20word@"])
    func a407ThatStaysIsAnErrorAndNeverTheResponse(credentials: String) async throws {
        let proxy = try guarded()
        let operation = try operation(through: "\(credentials)127.0.0.1:\(proxy.port)")
        let error = try await failure(of: operation)
        #expect(error == .authenticationRequired(proxy: "http://127.0.0.1:\(proxy.port)"))
        #expect(operation.response == nil && operation.responseData?.isEmpty != false)
        #expect(proxy.requests.count <= 2)
    }

    @Test(arguments: ["", "user:pass@"])
    func a407WithoutAChallengeOrABodyIsTheSame(credentials: String) async throws {
        let proxy = try ScriptedServer { _ in .respond(407) }
        let operation = try operation(through: "\(credentials)127.0.0.1:\(proxy.port)")
        let error = try await failure(of: operation)
        #expect(error == .authenticationRequired(proxy: "http://127.0.0.1:\(proxy.port)"))
    }

    @Test func a407ThatBreaksOffIsTheSame() async throws {
        let proxy = try ScriptedServer { _ in
            .respond(407, ["Proxy-Authenticate": "Basic realm=\"x\""], body: "0123456789", breakingAfter: 4)
        }
        let operation = try operation(through: "127.0.0.1:\(proxy.port)")
        guard case .authenticationRequired = try await failure(of: operation) else {
            Issue.record("\(String(describing: operation.error))")
            return
        }
    }

    @Test func a407IsNotTriedAgainByARetryPolicy() async throws {
        let proxy = try ScriptedServer { _ in .respond(407) }
        let operation = HTTPRequestOperation(request: URLRequest(url: try #require(URL(string: Self.target))))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.proxyConfiguration = .proxy(try Proxy("127.0.0.1:\(proxy.port)"))
        var policy = RetryPolicy(maximumRetries: 3)
        policy.initialDelay = 0
        operation.retryPolicy = policy
        operation.start()
        _ = try await failure(of: operation)
        #expect(proxy.requests.count == 1)
    }

    /// No proxy was asked: a server that sends it means something that cannot be answered here.
    @Test func a407WithoutAProxyIsTheServersResponse() async throws {
        let server = try ScriptedServer([
            .respond(407, ["Proxy-Authenticate": "Basic realm=\"x\""], body: "none")
        ])
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.proxyConfiguration = .none
        operation.start()
        await #expect(throws: ResponseSerializationError.self) { try await operation.value }
        #expect(operation.response?.statusCode == 407)
        #expect(operation.responseString == "none")
        #expect(server.requests.count == 1)
    }

    @Test func aDigestIsAnsweredByLibcurl() async throws {
        let proxy = try ScriptedServer { request in
            let answer = request["Proxy-Authorization"] ?? ""
            return answer.hasPrefix("Digest ") && answer.contains("username=\"user\"")
                ? .respond(body: "\(request.text)")
                : .respond(
                    407,
                    [
                        "Proxy-Authenticate":
                            "Digest realm=\"x\", nonce=\"abc\", qop=\"auth\", algorithm=SHA-256"
                    ]
                )
        }
        let operation = try operation(
            through: "user:secret@127.0.0.1:\(proxy.port)",
            "POST",
            body: Data("body".utf8)
        )
        #expect(try await operation.value as? Data == Data("body".utf8))
        #expect(proxy.requests.allSatisfy { $0["Proxy-Authorization"]?.contains("secret") != true })
    }

    /// The server behind the proxy may have said it, to have the password sent in the clear.
    @Test(arguments: ["Basic realm=\"x\"", "Basic realm=\"x\",\r\n Digest realm=\"x\", nonce=\"b\""])
    func aProxyThatAskedForADigestDoesNotReceiveThePassword(challenge: String) async throws {
        let proxy = try ScriptedServer { request in
            switch request["Proxy-Authorization"]?.prefix(6) {
            case nil: .respond(407, ["Proxy-Authenticate": "Digest realm=\"x\", nonce=\"a\", qop=\"auth\""])
            case "Digest"?: .respond(407, ["Proxy-Authenticate": challenge])
            default: .respond(body: "x")
            }
        }
        let operation = try operation(through: "a:x@127.0.0.1:\(proxy.port)")
        let error = try await failure(of: operation)
        #expect(error == .authenticationRequired(proxy: "http://127.0.0.1:\(proxy.port)"))
        #expect(proxy.requests.map { $0["Proxy-Authorization"]?.prefix(6) } == [nil, "Digest"])
    }

    // MARK: - Bodies and 407

    /// Says what it said to the requests: what they expected, and whether they came with credentials.
    private func manners(of proxy: ScriptedServer) -> [String] {
        proxy.requests.map {
            ($0["Proxy-Authorization"] == nil ? "anonymous" : "known") + ($0["Expect"] == nil ? "" : " waits")
        }
    }

    /// A proxy that answers the head, and closes while a body comes, resets the connection: its answer may be lost.
    private func impatient(_ challenge: String) throws -> ScriptedServer {
        try ScriptedServer(requestBodies: .each { $0["Proxy-Authorization"] == nil ? .leave : .read }) {
            request in
            request["Proxy-Authorization"] == nil
                ? .respond(407, ["Proxy-Authenticate": challenge], body: "no")
                : .respond(body: "\(request.body.count)")
        }
    }

    /// Posts a body, with credentials for the proxy, which answers with what it got.
    private func expectEcho(through proxy: ScriptedServer) async throws {
        let body = Data("body".utf8)
        let operation = try operation(through: "a:x@127.0.0.1:\(proxy.port)", "POST", body: body)
        #expect(try await operation.value as? Data == body)
    }

    @Test(arguments: [
        "Basic realm=\"x\"", "Digest realm=\"x\", nonce=\"abc\", qop=\"auth\", algorithm=SHA-256",
    ])
    func aBodyIsNotSentBeforeTheProxyHasAsked(challenge: String) async throws {
        let proxy = try impatient(challenge)
        let body = Data(repeating: 1, count: 1_000_000)
        for _ in 0..<2 {
            let operation = try operation(through: "user:secret@127.0.0.1:\(proxy.port)", "POST", body: body)
            #expect(try await operation.value as? Data == Data("1000000".utf8))
            #expect(operation.metrics?.bytesSent == 1_000_000)
        }
        // Basic needs no challenge, once it is known that it is wanted.
        let second = challenge.hasPrefix("Basic") ? ["known"] : ["anonymous waits", "known"]
        #expect(manners(of: proxy) == ["anonymous waits", "known"] + second)
    }

    @Test func credentialsForBasicGoWithTheFirstRequestOnceTheProxyHasAsked() async throws {
        let proxy = try guarded()
        for _ in 0..<3 {
            _ = try await operation(through: "user:pass%20word@127.0.0.1:\(proxy.port)").value
        }
        #expect(manners(of: proxy) == ["anonymous", "known", "known", "known"])
    }

    @Test func aProxyThatDoesNotAskIsNotProbedAgain() async throws {
        let proxy = try ScriptedServer { .respond(body: "\($0.text)") }
        for _ in 0..<2 { try await expectEcho(through: proxy) }
        #expect(manners(of: proxy) == ["anonymous waits", "anonymous"])
    }

    @Test func aProxyWithoutExpectContinueReceivesTheBodyAtOnce() async throws {
        let proxy = try ScriptedServer(requestBodies: .each { $0["Expect"] == nil ? .read : .leave }) {
            request in
            request["Expect"] == nil ? .respond(body: "\(request.text)") : .respond(417, body: "no")
        }
        for _ in 0..<2 { try await expectEcho(through: proxy) }
        #expect(manners(of: proxy) == ["anonymous waits", "anonymous", "anonymous"])
    }

    /// The server is not there to be asked, and a proxy may have become another one.
    @Test func aProxyThatChangesItsSchemeIsProbedAgain() async throws {
        let wanted = Locked("Basic")
        let proxy = try ScriptedServer { request in
            let scheme = wanted.withLock { $0 }
            return request["Proxy-Authorization"]?.hasPrefix(scheme) == true
                ? .respond(body: "x")
                : .respond(407, ["Proxy-Authenticate": "\(scheme) realm=\"x\", nonce=\"abc\""])
        }
        func ask() async throws { _ = try await operation(through: "a:x@127.0.0.1:\(proxy.port)").value }
        try await ask()
        wanted.withLock { $0 = "Digest" }
        await #expect(throws: ProxyError.self) { try await ask() }
        try await ask()
        #expect(proxy.requests.last?["Proxy-Authorization"]?.hasPrefix("Digest") == true)
    }

    // MARK: - Credentials

    @Test func connectionsOfOneUserDoNotServeAnother() async throws {
        let proxy = try ScriptedServer { request in
            .respond(body: "\(request["Proxy-Authorization"] ?? "none")")
        }
        var connections: [Set<Int>] = []
        for credentials in ["", "a:x@", "b:x@", "a:y@"] {
            let start = proxy.requests.count
            for _ in 0..<2 { _ = try await operation(through: "\(credentials)127.0.0.1:\(proxy.port)").value }
            connections.append(Set(proxy.requests[start...].map { $0.connectionNumber }))
        }
        #expect(connections.allSatisfy { $0.count == 1 })
        #expect(Set(connections).count == 4)
    }

    @Test func aProxyAuthorizationFieldGoesToTheProxyAndToNoServer() async throws {
        let proxy = try ScriptedServer { _ in .respond(body: "x") }
        let fields = ["proxy-authorization": "Own 1"]
        _ = try await operation(through: "127.0.0.1:\(proxy.port)", fields: fields).value
        #expect(proxy.requests.first?["Proxy-Authorization"] == "Own 1")
        let server = try ScriptedServer { _ in .respond(body: "x") }
        _ = try await operation(
            through: "127.0.0.1:\(proxy.port)",
            "GET",
            server.url.absoluteString,
            fields: fields,
            exceptions: ["127.0.0.1"]
        ).value
        #expect(server.requests.first?["Proxy-Authorization"] == nil)
    }

    // MARK: - Proxies that are not there

    @Test func aMissingProxyIsUnreachable() async throws {
        let proxy = try ScriptedServer([.respond(body: "x")])
        proxy.stop()
        let operation = try operation(through: "user:secret@127.0.0.1:\(proxy.port)")
        let error = try await failure(of: operation)
        guard case .unreachable(let address, _) = error else {
            throw TestFailure("\(String(describing: error))")
        }
        #expect(address == "http://127.0.0.1:\(proxy.port)")
        #expect(error?.description.contains("secret") == false)
    }

    @Test func aProxyThatHasNoAddressIsUnreachable() async throws {
        let operation = try operation(through: "nowhere.invalid:1")
        guard case .unreachable = try await failure(of: operation) else {
            throw TestFailure("\(String(describing: operation.error))")
        }
    }

    @Test func anUnreachableProxyIsTriedAgain() async throws {
        let proxy = try ScriptedServer([.respond(body: "x")])
        proxy.stop()
        let operation = HTTPRequestOperation(request: URLRequest(url: try #require(URL(string: Self.target))))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.proxyConfiguration = .proxy(try Proxy("127.0.0.1:\(proxy.port)"))
        var policy = RetryPolicy(maximumRetries: 2)
        policy.initialDelay = 0.001
        operation.retryPolicy = policy
        operation.start()
        _ = try await failure(of: operation)
        #expect(operation.metrics?.transferCount == 3)
    }

    // MARK: - Settings

    @Test func managersGiveTheirProxyToOperationsCopiesAndArchives() throws {
        let manager = OperationManager()
        #expect(manager.proxyConfiguration == .environment)
        let configuration = ProxyConfiguration.proxy(try Proxy("user:pa55word@p:1"), exceptions: ["a"])
        manager.proxyConfiguration = configuration
        let made = manager.operation(for: URLRequest(url: try #require(URL(string: Self.target))))
        #expect(made.proxyConfiguration == configuration)
        #expect((made.copy() as? ConnectionOperation)?.proxyConfiguration == configuration)
        #expect((manager.copy() as? OperationManager)?.proxyConfiguration == configuration)
        let kept = ProxyConfiguration.proxy(try Proxy("p:1"), exceptions: ["a"])
        let data = try JSONEncoder().encode(try manager.archive)
        #expect(!String(decoding: data, as: UTF8.self).contains("pa55word"))
        let archive = try JSONDecoder().decode(OperationManagerArchive.self, from: data)
        #expect(OperationManager(archive: archive).proxyConfiguration == kept)
        let operationData = try JSONEncoder().encode(try #require(made.archive))
        #expect(!String(decoding: operationData, as: UTF8.self).contains("pa55word"))
        let operationArchive = try JSONDecoder().decode(OperationArchive.self, from: operationData)
        #expect(ConnectionOperation(archive: operationArchive).proxyConfiguration == kept)
    }
}
