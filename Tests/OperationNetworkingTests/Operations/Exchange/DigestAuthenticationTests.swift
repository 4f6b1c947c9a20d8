import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Two requests for the first answer of a server, one for each later one.
@Suite(.timeLimit(.minutes(1)))
struct DigestAuthenticationTests {
    private let door = Door()

    private func digest(realm: String = "door", staleAnswers: Int = 0) -> DigestServer {
        DigestServer(
            user: door.alice.user ?? "",
            password: "s3cret",
            realm: realm,
            staleAnswers: staleAnswers
        )
    }

    private func server(staleAnswers: Int = 0) throws -> ScriptedServer {
        try server(digest(staleAnswers: staleAnswers))
    }

    /// The server looks at the head of a request whose body waits for that, before it reads the body.
    private func server(_ digest: DigestServer, _ fields: FieldLines = [:]) throws -> ScriptedServer {
        let policy = RequestBodyPolicy.each { request in
            guard request["Expect"] != nil else { return .read }
            // What it says is said again to the whole request, so the number of the nonce is not used up.
            return digest.takes(request) ? .read : .leave
        }
        return try ScriptedServer(requestBodies: policy) { request in
            digest.refusal(of: request)
                ?? .respond(200, fields, body: .text("open to \(request.method) \(request.text)"))
        }
    }

    /// The numbers that came with the nonces, in order; `-` without a proof.
    private func counts(_ server: ScriptedServer) -> [String] {
        server.authorizations.map { field in
            DigestServer.parameters(of: field)?["nc"] ?? "-"
        }
    }

    @Test func aDigestIsAnswered() async throws {
        let server = try server()
        let operation = door.operation(server.url(path: "/a?b=c"), door.alice)
        operation.start()
        #expect(try await operation.value as? Data == Data("open to GET ".utf8))
        #expect(operation.metrics?.transferCount == 2)
        #expect(counts(server) == ["-", "00000001"])
        // The password has not been sent, nor anything like it.
        #expect(server.authorizations.allSatisfy { $0 == "-" || $0.hasPrefix("Digest ") })
    }

    /// The server compares it with the one in its request line.
    @Test(arguments: ["/", "/a?b=c", "/a/./b/../c?d", "/a%2Fb?x=%20&y=%26", "/%C3%A4//b", "/a?b?c", "/a?"])
    func theProofNamesTheTargetThatIsSent(target: String) async throws {
        let server = try server()
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)\(target)"))
        #expect(await door.operation(url, door.alice).status() == 200)
        #expect(server.requests.count == 2)
    }

    @Test func theSchemeIsRemembered() async throws {
        let server = try server()
        #expect(await door.operation(server.url, door.alice).status() == 200)
        let before = server.requests.count
        let operation = door.operation(server.url, door.alice)
        #expect(await operation.status() == 200)
        #expect(server.requests.count == before + 1)
        #expect(operation.metrics?.transferCount == 1)
        #expect(await door.operation(server.url(path: "/other/place?q"), door.alice).status() == 200)
        #expect(counts(server) == ["-", "00000001", "00000002", "00000003"])
    }

    @Test func concurrentRequestsUseDifferentCounts() async throws {
        let server = try server()
        #expect(await door.operation(server.url, door.alice).status() == 200)
        await withTaskGroup(of: Int.self) { group in
            for _ in 0..<30 { group.addTask { await door.operation(server.url, door.alice).status() } }
            for await status in group { #expect(status == 200) }
        }
        #expect(Set(counts(server)).count == 32)
    }

    @Test func aNonceThatTheServerHasForgottenIsReplacedSilently() async throws {
        let digest = digest()
        let server = try server(digest)
        #expect(await door.operation(server.url, door.alice).status() == 200)
        digest.forgetNonces()
        let operation = door.operation(server.url, door.alice)
        let asked = Recorder<Int>()
        operation.setAuthenticationChallenge { _, challenge in
            asked.append(challenge.previousFailureCount)
            return .performDefaultHandling
        }
        #expect(await operation.status() == 200)
        #expect(asked.elements == [])
        #expect(await door.operation(server.url, door.alice).status() == 200)
        #expect(counts(server) == ["-", "00000001", "00000002", "00000001", "00000002"])
    }

    @Test func theNextNonceIsUsed() async throws {
        let digest = digest()
        let nonce = digest.makeNonce()
        let server = try server(digest, ["Authentication-Info": "qop=auth, nextnonce=\"\(nonce)\""])
        for _ in 0..<3 { #expect(await door.operation(server.url, door.alice).status() == 200) }
        #expect(counts(server) == ["-", "00000001", "00000001", "00000002"])
        #expect(server.authorizations.suffix(2).allSatisfy { $0.contains(nonce) })
    }

    @Test func eachRealmHasItsNonce() async throws {
        let (one, two) = (digest(realm: "one"), digest(realm: "two"))
        let server = try ScriptedServer { request in
            (request.path.hasPrefix("/one") ? one : two).refusal(of: request) ?? .respond(body: "open")
        }
        for _ in 0..<3 {
            for path in ["/one/a", "/two/a"] {
                #expect(await door.operation(server.url(path: path), door.alice).status() == 200)
            }
        }
        // The second realm is met with the nonce of the first, and asks for its own.
        #expect(
            counts(server)
                == ["-", "00000001", "00000002", "00000001", "00000003", "00000002", "00000004", "00000003"]
        )
    }

    @Test func aWrongPasswordIsA401WithItsBody() async throws {
        let server = try server()
        let wrong = Credential(user: door.alice.user ?? "", password: "wrong")
        let operation = door.operation(server.url, wrong)
        let observer = HeadObserver()
        operation.addObserver(observer)
        #expect(await operation.status() == 401)
        #expect(operation.responseString == "closed")
        #expect(try await observer.heads.wait(count: 1) == [401])
    }

    @Test(arguments: ["POST", "PUT", "PATCH"])
    func aBodyIsSentWhenTheServerAcceptsTheCredential(method: String) async throws {
        let server = try server()
        var request = URLRequest(url: server.url)
        request.httpMethod = method
        request.httpBody = Data("body".utf8)
        for _ in 0..<2 {
            let operation = door.operation(request, door.alice)
            operation.start()
            #expect(try await operation.value as? Data == Data("open to \(method) body".utf8))
        }
        #expect(server.requests.map(\.text) == ["body", "body", "body"])
    }

    /// The body waits for the server's leave, so that it is sent once also when the nonce is no good any
    /// more.
    @Test(arguments: [false, true])
    func aLargeBodyIsSentOnceWhereTheServerIsKnown(isForgotten: Bool) async throws {
        let digest = digest()
        let server = try server(digest)
        #expect(await door.operation(server.url, door.alice).status() == 200)
        if isForgotten { digest.forgetNonces() }
        var request = URLRequest(url: server.url)
        request.httpMethod = "PUT"
        request.httpBody = Data(repeating: 7, count: 3_000_000)
        #expect(await door.operation(request, door.alice).status() == 200)
        let sizes = server.requests.map(\.body.count)
        #expect(sizes == (isForgotten ? [0, 0, 0, 3_000_000] : [0, 0, 3_000_000]))
    }

    /// A server that knows no `Expect`, and keeps the connection then or not.
    private func serverWithoutLeave(keepsOpen: Bool) throws -> ScriptedServer {
        let digest = digest()
        let refusal = "HTTP/1.1 417 No\r\nContent-Length: 5\r\n\r\nwhat?"
        return try ScriptedServer(requestBodies: .each { $0["Expect"] == nil ? .read : .leave }) { request in
            guard request["Expect"] == nil else {
                return keepsOpen ? .raw(.text(refusal), keepingOpen: true) : .respond(417, body: "what?")
            }
            return digest.refusal(of: request) ?? .respond(body: "x")
        }
    }

    /// libcurl would send the whole request again by itself, and read a stream that can be read once.
    @Test(arguments: ["POST", "PUT"], [false, true])
    func aServerWithoutExpectContinueReceivesTheBody(method: String, keepsOpen: Bool) async throws {
        let server = try serverWithoutLeave(keepsOpen: keepsOpen)
        #expect(await door.operation(server.url, door.alice).status() == 200)
        var request = URLRequest(url: server.url)
        request.httpMethod = method
        let operation = door.operation(request, door.alice)
        operation.bodySource = .stream(InputStream(data: Data("body".utf8)), length: 4)
        #expect(await operation.status() == 200)
        #expect(server.requests.map(\.text) == ["", "", "", "body"])
    }

    @Test(arguments: [false, true])
    func aServerWithoutExpectContinueReceivesALargeBodyOnce(keepsOpen: Bool) async throws {
        let server = try serverWithoutLeave(keepsOpen: keepsOpen)
        #expect(await door.operation(server.url, door.alice).status() == 200)
        var request = URLRequest(url: server.url)
        request.httpMethod = "PUT"
        request.httpBody = Data(repeating: 7, count: 3_000_000)
        let operation = door.operation(request, door.alice)
        #expect(await operation.status() == 200)
        #expect(server.requests.map(\.body.count) == [0, 0, 0, 3_000_000])
        #expect(operation.metrics?.bytesSent == 3_000_000)
    }

    @Test(arguments: [false, true])
    func aStreamThatCanBeReadOnceIsSentWhereTheServerIsKnown(isForgotten: Bool) async throws {
        let digest = digest()
        let server = try server(digest)
        #expect(await door.operation(server.url, door.alice).status() == 200)
        if isForgotten { digest.forgetNonces() }
        var request = URLRequest(url: server.url)
        request.httpMethod = "POST"
        let operation = door.operation(request, door.alice)
        operation.bodySource = .stream(InputStream(data: Data("body".utf8)), length: 4)
        let sent = Recorder<Int64>()
        operation.setUploadProgress { _, total, _ in sent.append(total) }
        let isReported = Gate()
        operation.completionBlock = { isReported.open() }
        operation.start()
        // It is not read before the server has seen the head.
        #expect(try await operation.value as? Data == Data("open to POST body".utf8))
        // The result is there before the last callback.
        try await isReported.wait()
        #expect(sent.elements.last == 4)
    }

    @Test func aBodyIsSentAlsoWhenTheServerChangesItsMind() async throws {
        let server = try ScriptedServer { request in
            request.number == 0
                ? Door.closed("Digest realm=a, nonce=1")
                : .respond(body: .text("open to \(request.method) \(request.text)"))
        }
        var request = URLRequest(url: server.url)
        request.httpMethod = "POST"
        request.httpBody = Data("body".utf8)
        let operation = door.operation(request, door.alice)
        let observer = HeadObserver()
        operation.addObserver(observer)
        operation.start()
        #expect(try await operation.value as? Data == Data("open to POST body".utf8))
        #expect(server.requests.map(\.text) == ["body", "body"])
        #expect(try await observer.heads.wait(count: 1) == [200])
    }

    @Test(arguments: [("POST", 2), ("PUT", 3)])
    func aRequestLostOnADeadConnectionIsRepeatedOnlyIfSafe(method: String, count: Int) async throws {
        let server = try ScriptedServer { request in
            switch request.number {
            case 0: Door.closed("Digest realm=a, nonce=1")
            case 1: .hangUp
            default: .respond(body: "open")
            }
        }
        var request = URLRequest(url: server.url)
        request.httpMethod = method
        request.httpBody = Data("body".utf8)
        let operation = door.operation(request, door.alice)
        operation.start()
        if method == "POST" {
            let error = await #expect(throws: URLError.self) { try await operation.value }
            #expect(error?.code == .networkConnectionLost)
        } else {
            #expect(try await operation.value as? Data == Data("open".utf8))
        }
        #expect(server.requests.map(\.text).prefix(2) == ["body", "body"])
        #expect(server.requests.count == count)
    }

    @Test func aStaleNonceIsReplaced() async throws {
        let server = try server(staleAnswers: 3)
        #expect(await door.operation(server.url, door.alice).status() == 200)
        #expect(server.requests.count == 5)
    }

    @Test func noncesThatAreAlwaysStaleEnd() async throws {
        let server = try server(staleAnswers: .max)
        let operation = door.operation(server.url, door.alice)
        operation.start()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        #expect(error?.code == .userAuthenticationRequired)
        #expect(server.requests.count < 15)
    }

    @Test func namesAndRealmsWithQuotesAreEscaped() async throws {
        let credential = Credential(user: "a\", realm=\"evil", password: "p")
        let server = try ScriptedServer([Door.closed("Digest realm=\"x\\\"y\", nonce=\"1\", qop=\"auth\"")])
        let operation = door.operation(server.url, credential)
        #expect(await operation.status() == 401)
        let sent = server.authorizations.first { $0 != "-" }.flatMap(DigestServer.parameters)
        #expect(sent?["username"] == "a\", realm=\"evil")
        #expect(sent?["realm"] == "x\"y")
    }

    @Test func anEmpty401IsAResponse() async throws {
        let server = try ScriptedServer([Door.closed("Digest realm=a, nonce=1", body: "")])
        let operation = door.operation(server.url, door.alice)
        #expect(await operation.status() == 401)
        #expect(operation.responseData?.isEmpty == true)
    }

    @Test func aUsedHandleKeepsNoCredential() async throws {
        let server = try server()
        #expect(await door.operation(server.url, door.alice).status() == 200)
        let before = server.requests.count
        #expect(await door.operation(server.url).status() == 401)
        #expect(server.authorizations.dropFirst(before) == ["-"])
    }

    private final class HeadObserver: OperationObserver {
        let heads = Recorder<Int>()
        func operation(_ operation: ConnectionOperation, didReceive response: HTTPURLResponse) {
            heads.append(response.statusCode)
        }
    }

    // MARK: - Octets

    /// The server sees its own octets again, and a proof of them. The rest of the field is UTF-8, which ISO 8859-1
    /// shows as two characters.
    @Test func aRealmInISO88591IsSentBackUnchanged() async throws {
        let nonce = UUID().uuidString
        let head =
            Array("HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Digest realm=\"gesch".utf8) + [0xFC]
            + Array("tzt\", nonce=\"\(nonce)\", qop=\"auth\"\r\nContent-Length: 0\r\n\r\n".utf8)
        let server = try ScriptedServer { request in
            request["Authorization"] == nil
                ? .raw(.data(Data(head)), keepingOpen: true) : .respond(body: "open")
        }
        let credential = Credential(user: "j\u{F6}rg-\(nonce)", password: "p\u{E4}ss")
        #expect(await door.operation(server.url, credential).status() == 200)
        let field = try #require(server.requests.last?["Authorization"])
        let said = try #require(DigestServer.parameters(of: field))
        #expect(said["realm"] == "gesch\u{FC}tzt")
        #expect(said["username"] == "j\u{C3}\u{B6}rg-\(nonce)")
        func md5(_ octets: [UInt8]) throws -> String { try FileDigest.of(Data(octets), algorithm: .md5).hex }
        let secret = try md5(
            Array("j\u{F6}rg-\(nonce):gesch".utf8) + [0xFC] + Array("tzt:p\u{E4}ss".utf8)
        )
        let message = try md5(Array("GET:/".utf8))
        let count = (said["nc"] ?? "", said["cnonce"] ?? "")
        #expect(
            said["response"]
                == (try md5(Array("\(secret):\(nonce):\(count.0):\(count.1):auth:\(message)".utf8)))
        )
    }
}
