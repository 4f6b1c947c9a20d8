import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// A proxy that opens no tunnel: what it says is never the response.
@Suite(.timeLimit(.minutes(1)))
struct TunnelRefusalTests {
    /// No such server: only a proxy can answer for it.
    private let target: URL

    init() throws {
        target = try #require(URL(string: "https://server.example/head"))
    }

    private func operation(
        _ url: URL,
        through proxy: String,
        fields: [String: String] = [:]
    ) throws -> HTTPRequestOperation {
        try ProxiedOperation.start(url, through: proxy, fields: fields)
    }

    private func failure(of operation: HTTPRequestOperation) async throws -> ProxyError? {
        try await ProxiedOperation.failure(of: operation)
    }

    @Test(arguments: ["", "user:wrong@"])
    func aProxyThatRequiresOtherCredentialsIsAnError(credentials: String) async throws {
        let proxy = try TunnelProxy { _, _ in .reply(TunnelProxy.challenge) }
        let error = try await failure(
            of: operation(target, through: "\(credentials)127.0.0.1:\(proxy.port)")
        )
        #expect(error == .authenticationRequired(proxy: "http://127.0.0.1:\(proxy.port)"))
        #expect(proxy.requests.count <= 2)
    }

    @Test(arguments: [301, 400, 403, 404, 500, 502, 503, 504])
    func anotherAnswerToCONNECTIsNeverTheResponse(status: Int) async throws {
        let answer =
            "HTTP/1.1 \(status) No\r\nLocation: http://127.0.0.1:1/\r\nRetry-After: 100\r\nContent-Length: 4\r\n\r\nbody"
        let proxy = try TunnelProxy { _, _ in .reply(answer) }
        let error = try await failure(of: operation(target, through: "127.0.0.1:\(proxy.port)"))
        #expect(error == .refused(proxy: "http://127.0.0.1:\(proxy.port)", status: status))
        #expect(proxy.requests.count == 1)
    }

    @Test(arguments: [
        "", "HTTP/1.1 2", "HTTP/1.1 200 OK\r\nX: ", "nonsense\r\n\r\n", "SSH-2.0-x\r\n", "\u{0}\r\n\r\n",
    ])
    func aTruncatedOrInvalidAnswerOfAProxyIsAFailure(answer: String) async throws {
        let proxy = try TunnelProxy { _, _ in .close(answer) }
        let operation = try operation(target, through: "127.0.0.1:\(proxy.port)")
        await #expect(throws: (any Error).self) { try await operation.value }
        #expect(operation.response == nil)
        guard case .failed(_, _, isTemporary: true) = operation.error as? ProxyError else {
            throw TestFailure("\(String(describing: operation.error))")
        }
    }

    /// The status that libcurl remembers is still that of the question.
    @Test(arguments: ["", "HTTP/1.1 2"], ["Basic realm=x", "Digest realm=x, nonce=y"])
    func aProxyThatClosesAfterItsChallengeHasFailed(answer: String, challenge: String) async throws {
        let proxy = try TunnelProxy { _, head in
            head.contains("Proxy-Authorization")
                ? .close(answer)
                : .reply(
                    "HTTP/1.1 407 No\r\nProxy-Authenticate: \(challenge)\r\nContent-Length: 0\r\n\r\n"
                )
        }
        let operation = try operation(target, through: "user:p@127.0.0.1:\(proxy.port)")
        await #expect(throws: (any Error).self) { try await operation.value }
        guard case .failed(_, _, isTemporary: true) = operation.error as? ProxyError else {
            throw TestFailure("\(String(describing: operation.error))")
        }
        #expect(proxy.requests.count >= 2)
    }

    @Test func aProxyThatIsSilentAfterItsChallengeTimesOut() async throws {
        let proxy = try TunnelProxy { _, head in
            head.contains("Proxy-Authorization") ? .silence : .reply(TunnelProxy.challenge)
        }
        let operation = HTTPRequestOperation(request: URLRequest(url: target))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.proxyConfiguration = .proxy(try Proxy("user:p@127.0.0.1:\(proxy.port)"))
        operation.timeouts.connect = 0.5
        operation.start()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        #expect(error?.code == .timedOut)
        #expect(proxy.requests.count == 2)
    }

    /// libcurl reads such a body byte by byte, and nothing else moves meanwhile.
    @Test(arguments: [
        "407 No\r\nProxy-Authenticate: Basic realm=x",
        "407 No\r\nProxy-Authenticate: Digest realm=x, nonce=y", "403 No",
    ])
    func anAnswerWithoutEndIsGivenUp(start: String) async throws {
        let answer =
            "HTTP/1.1 \(start)\r\nContent-Length: 1000000000000\r\n\r\n"
            + String(repeating: "x", count: 4 << 20)
        let proxy = try TunnelProxy { _, _ in .reply(answer) }
        let operation = try operation(target, through: "user:p@127.0.0.1:\(proxy.port)")
        let other = try ScriptedServer([.respond(body: "a")])
        let quick = HTTPRequestOperation(request: URLRequest(url: other.url))
        quick.completionQueue = DispatchQueue(label: "callbacks")
        quick.start()
        #expect(try await quick.value as? Data == Data("a".utf8))
        let error = try await failure(of: operation)
        switch error {
        case .refused(_, status: 403), .failed(_, _, isTemporary: false): break
        default: throw TestFailure("\(String(describing: error))")
        }
    }

    /// A page may explain what the proxy wants.
    @Test func aLongPageOfTheProxyIsNotAnError() async throws {
        let page = String(repeating: "x", count: 150_000)
        let challenge =
            "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=x\r\nContent-Length: \(page.count)\r\n\r\n\(page)"
        let proxy = try TunnelProxy { _, head in
            head.contains("Proxy-Authorization") ? .reply("HTTP/1.1 418 No\r\n\r\n") : .reply(challenge)
        }
        let error = try await failure(of: operation(target, through: "user:p@127.0.0.1:\(proxy.port)"))
        #expect(error == .refused(proxy: "http://127.0.0.1:\(proxy.port)", status: 418))
    }

    @Test func aSilentProxyTimesOut() async throws {
        let proxy = try TunnelProxy { _, _ in .silence }
        var request = URLRequest(url: target)
        request.timeoutInterval = 0.2
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.proxyConfiguration = .proxy(try Proxy("127.0.0.1:\(proxy.port)"))
        operation.start()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        #expect(error?.code == .timedOut)
    }

    @Test func theTunnelIsPartOfTheTimeToConnect() async throws {
        let proxy = try TunnelProxy { _, _ in .silence }
        let operation = HTTPRequestOperation(request: URLRequest(url: target))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.proxyConfiguration = .proxy(try Proxy("127.0.0.1:\(proxy.port)"))
        operation.timeouts.connect = 0.2
        operation.start()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        #expect(error?.code == .timedOut)
    }

    /// There is no TLS at the other end.
    @Test func aProxyThatAnswersForTheServerIsNotTrusted() async throws {
        let proxy = try TunnelProxy { _, _ in
            .close(
                "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbodyHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody"
            )
        }
        let operation = try operation(target, through: "127.0.0.1:\(proxy.port)")
        await #expect(throws: URLError.self) { try await operation.value }
        #expect(operation.response == nil && operation.responseData?.isEmpty != false)
    }
}
