import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Bytes that a server sends on a kept connection before the next request answer nothing.
@Suite(.timeLimit(.minutes(1)))
struct KeptConnectionTests {
    private static let stranger =
        "HTTP/1.1 200 OK\r\nCache-Control: max-age=100\r\nContent-Length: 8\r\n\r\nSTRANGER"

    /// The bytes that a server sends when its response has ended.
    enum Late: CaseIterable, Sendable {
        case response, bodyOfHEAD, bodyOf204, bodyOf304, restOfABody, behindTheLastChunk, timeout

        var method: String { self == .bodyOfHEAD ? "HEAD" : "GET" }

        var response: String {
            switch self {
            case .response, .restOfABody, .timeout: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
            case .bodyOfHEAD: "HTTP/1.1 200 OK\r\nContent-Length: 73\r\n\r\n"
            case .bodyOf204: "HTTP/1.1 204 No Content\r\n\r\n"
            case .bodyOf304: "HTTP/1.1 304 Not Modified\r\nContent-Length: 73\r\n\r\n"
            case .behindTheLastChunk:
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
            }
        }

        var bytes: String {
            switch self {
            case .restOfABody: "\"}\n"
            case .timeout: KeptConnectionTests.timeout
            default: KeptConnectionTests.stranger
            }
        }

        /// Sends `count` of the bytes with the response, and the others when the gate is open.
        func answer(with count: Int = 0, by gate: Gate) -> Answer {
            .raw("\(response)\(bytes)", keepingOpen: self != .timeout)
                .held(after: .wire(response.utf8.count + count), by: gate)
        }
    }

    private static let timeout =
        "HTTP/1.1 408 Request Time-out\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

    /// The ways to send a request and to take the answer.
    enum Requester: CaseIterable, Sendable {
        case get, post, file, download, cache

        func answer(to url: URL, through proxy: Proxy? = nil) async throws -> String {
            let directory = try TemporaryDirectory()
            var request = URLRequest(url: url)
            if self == .download {
                let operation = DownloadOperation(request: request, to: directory.file("a"))
                operation.completionQueue = DispatchQueue(label: "callbacks")
                if let proxy { operation.proxyConfiguration = .proxy(proxy) }
                operation.start()
                return String(decoding: try Data(contentsOf: await operation.savedFile), as: UTF8.self)
            }
            if self == .post {
                request.httpMethod = "POST"
                request.httpBody = Data("x".utf8)
            }
            let operation = HTTPRequestOperation(request: request)
            operation.completionQueue = DispatchQueue(label: "callbacks")
            if let proxy { operation.proxyConfiguration = .proxy(proxy) }
            if self == .file { operation.outputFile = directory.file("a") }
            if self == .cache {
                operation.cache = ResponseCache(memoryCapacity: 1 << 20, diskCapacity: 0, directory: nil)
            }
            operation.start()
            _ = try await operation.value
            guard self == .file else { return operation.responseString ?? "" }
            return String(decoding: try Data(contentsOf: directory.file("a")), as: UTF8.self)
        }
    }

    /// Asks first, whatever comes of it.
    private func ask(_ url: URL, _ method: String = "GET", through proxy: Proxy? = nil) async {
        var request = URLRequest(url: url)
        request.httpMethod = method
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        if let proxy { operation.proxyConfiguration = .proxy(proxy) }
        operation.start()
        _ = try? await operation.value
    }

    /// Waits until `count` connections to a port of this machine have something to read (proc_net_tcp(5)).
    private func bytesHaveCome(from port: Int, on count: Int = 1) async throws {
        try await eventually {
            let table = FileHandle(forReadingAtPath: "/proc/net/tcp")
            let text = String(decoding: try table?.readToEnd() ?? Data(), as: UTF8.self)
            let waiting = text.split(separator: "\n").dropFirst().filter { line in
                let fields = line.split(separator: " ")
                let remote = fields[2].split(separator: ":").last.flatMap { Int($0, radix: 16) }
                let unread = fields[4].split(separator: ":").last.flatMap { Int($0, radix: 16) }
                return remote == port && unread != 0
            }
            return waiting.count >= count
        }
    }

    // MARK: - While the connection is idle

    @Test(arguments: Late.allCases, Requester.allCases)
    func bytesOnAnIdleConnectionAreNotAResponse(late: Late, requester: Requester) async throws {
        let gate = Gate()
        let server = try ScriptedServer { $0.number == 0 ? late.answer(by: gate) : .respond(body: "own") }
        await ask(server.url, late.method)
        gate.open()
        try await bytesHaveCome(from: server.port)
        #expect(try await requester.answer(to: server.url(path: "/b")) == "own")
        #expect(server.requests.map(\.connectionNumber) == [1, 2])
    }

    @Test func noPooledConnectionIsTrustedAfterExtraBytes() async throws {
        let (asked, ended) = (Gate(), Gate())
        let (response, all) = (Late.response.response, Late.response.response + Self.stranger)
        let server = try ScriptedServer { request in
            guard request.number < 6 else { return .respond(body: "own") }
            return .raw("\(all)", keepingOpen: true)
                .held(after: .wire(response.utf8.count - 1), by: asked)
                .held(after: .wire(response.utf8.count), by: ended)
        }
        await withTaskGroup { group in
            for _ in 0..<6 { group.addTask { await ask(server.url) } }
            group.addTask {
                _ = try? await server.waitForRequests(count: 6)
                asked.open()
            }
        }
        ended.open()
        try await bytesHaveCome(from: server.port, on: 6)
        #expect(try await Requester.post.answer(to: server.url) == "own")
        #expect(server.requests.map(\.connectionNumber).max() == 7)
        #expect(server.requests.count == 7)
    }

    @Test func aPlainProxysConnectionIsNotTrusted() async throws {
        let gate = Gate()
        let server = try ScriptedServer {
            $0.number == 0 ? Late.response.answer(by: gate) : .respond(body: "own \($0.target)")
        }
        let proxy = try Proxy("127.0.0.1:\(server.port)")
        let urls = try ["http://one.test/", "http://other.test/"].map { try #require(URL(string: $0)) }
        await ask(urls[0], through: proxy)
        gate.open()
        try await bytesHaveCome(from: server.port)
        #expect(try await Requester.post.answer(to: urls[1], through: proxy) == "own http://other.test/")
    }

    @Test func bytesThroughSOCKSAreNotAResponse() async throws {
        let gate = Gate()
        let server = try ScriptedServer {
            $0.number == 0 ? Late.response.answer(by: gate) : .respond(body: "own")
        }
        let socks = try TunnelProxy(socksUser: nil)
        let proxy = try Proxy("socks5://127.0.0.1:\(socks.port)")
        await ask(server.url, through: proxy)
        gate.open()
        try await bytesHaveCome(from: Int(socks.port))
        #expect(try await Requester.post.answer(to: server.url, through: proxy) == "own")
    }

    // MARK: - With the response

    @Test(arguments: [
        Late.response.response, Late.bodyOf204.response, Late.bodyOf304.response,
        Late.behindTheLastChunk.response, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    ])
    func aConnectionWithMoreThanTheResponseIsNotUsedAgain(response: String) async throws {
        let server = try ScriptedServer { request in
            guard request.number == 0 else { return .respond(body: "own") }
            return .raw("\(response)\(Self.stranger.prefix(10))", keepingOpen: true)
        }
        await ask(server.url)
        #expect(try await Requester.get.answer(to: server.url) == "own")
        #expect(server.requests.map(\.connectionNumber) == [1, 2])
    }

    @Test func aConnectionWithTheBodyOfAHEADIsNotUsedAgain() async throws {
        let gate = Gate()
        let server = try ScriptedServer {
            $0.number == 0 ? Late.bodyOfHEAD.answer(with: 10, by: gate) : .respond(body: "own")
        }
        await ask(server.url, "HEAD")
        #expect(try await Requester.get.answer(to: server.url) == "own")
        #expect(server.requests.map(\.connectionNumber) == [1, 2])
        gate.open()
    }

    // MARK: - 408, when the request is on its way

    private func operation(_ method: String, _ server: ScriptedServer) -> HTTPRequestOperation {
        var request = URLRequest(url: server.url)
        request.httpMethod = method
        if method != "GET" { request.httpBody = Data("x".utf8) }
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        return operation
    }

    @Test(arguments: ["GET", "PUT"]) func a408OnAReusedConnectionIsNotAResponse(method: String) async throws {
        let server = try ScriptedServer {
            $0.number == 1 ? .raw(.text(Self.timeout)) : .respond(body: "own")
        }
        await ask(server.url)
        let operation = operation(method, server)
        operation.start()
        _ = try await operation.value
        #expect(operation.responseString == "own")
        #expect(server.requests.map(\.connectionNumber) == [1, 1, 2])
        #expect(server.requests.map(\.body.count).suffix(2) == (method == "GET" ? [0, 0] : [1, 1]))
    }

    /// A 408 says that the request was not received whole (RFC 9110 §15.5.9): the caller may decide.
    @Test func whatMayNotBeSentTwiceGetsTheTimeout() async throws {
        let server = try ScriptedServer {
            $0.number == 1 ? .raw(.text(Self.timeout)) : .respond(body: "own")
        }
        await ask(server.url)
        let operation = operation("POST", server)
        operation.start()
        _ = try? await operation.value
        #expect(operation.response?.statusCode == 408)
        #expect(server.requests.count == 2)
    }

    @Test func a408OnANewConnectionIsTheResponse() async throws {
        let server = try ScriptedServer([.raw(.text(Self.timeout))])
        let operation = operation("GET", server)
        operation.start()
        _ = try? await operation.value
        #expect(operation.response?.statusCode == 408)
        #expect(server.requests.count == 1)
    }

    /// Two requests at most, however often the server says so.
    @Test func aSecond408IsAccepted() async throws {
        let server = try ScriptedServer {
            $0.number == 0 ? .respond(body: "x") : .raw(.text(Self.timeout))
        }
        await ask(server.url)
        let operation = operation("GET", server)
        operation.start()
        _ = try? await operation.value
        #expect(operation.response?.statusCode == 408)
        #expect(server.requests.count == 3)
    }

    // MARK: - TLS

    /// The path, by which `tls_idle.py` sends more than a response, and whether the connection is kept. Later
    /// libcurls use none that has anything to read.
    @Test(
        arguments: [
            ("/plain", true), ("/ticket", !RealServers.hasLaterLibcurl),
            ("/update", !RealServers.hasLaterLibcurl), ("/late", false), ("/record", false),
            ("/ticket/late", false), ("/notify", false), ("/garbage", false),
            // Of a record: a part of its header, the header alone, and a part of what is in it.
            ("/cut/1", false), ("/cut/4", false), ("/cut/5", false), ("/cut/6", false), ("/cut/-1", false),
            ("/cut/5/ticket", false), ("/cut/20/ticket", false), ("/cut/-1/ticket", false),
        ],
        ["GET", "POST"]
    )
    func onlyTicketsAndKeyUpdatesMayComeOverTLS(late: (String, isKept: Bool), method: String) async throws {
        let server = try TLSServer("tls_idle.py")
        #expect(try await text(server, late.0) == "1")
        if !["/plain", "/record"].contains(late.0) { try await bytesHaveCome(from: server.port) }
        #expect(try await text(server, "/plain", method) == (late.isKept ? "1" : "2"))
        #expect(try await text(server, "/plain", method) == (late.isKept ? "1" : "2"))
    }

    @Test(arguments: [("/ticket", !RealServers.hasLaterLibcurl), ("/late", false)])
    func onlyTicketsAndKeyUpdatesMayComeInATunnel(late: (String, isKept: Bool)) async throws {
        let server = try TLSServer("tls_idle.py")
        let proxy = try TunnelProxy()
        #expect(try await text(server, late.0, through: proxy) == "1")
        try await bytesHaveCome(from: Int(proxy.port))
        #expect(try await text(server, "/plain", "POST", through: proxy) == (late.isKept ? "1" : "2"))
    }

    private func text(
        _ server: TLSServer,
        _ path: String,
        _ method: String = "GET",
        through proxy: TunnelProxy? = nil
    ) async throws -> String {
        var request = URLRequest(url: try server.url(path))
        request.httpMethod = method
        if method == "POST" { request.httpBody = Data("x".utf8) }
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.trustAnchors = .file(server.certificate)
        if let proxy { operation.proxyConfiguration = .proxy(try Proxy("127.0.0.1:\(proxy.port)")) }
        operation.start()
        _ = try await operation.value
        return operation.responseString ?? ""
    }
}
