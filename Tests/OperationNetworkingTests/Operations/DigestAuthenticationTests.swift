import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking

/// What libcurl answers by itself, within one transfer: only the last head is a response.
@Suite(.timeLimit(.minutes(1)))
struct DigestAuthenticationTests {
    private let door = Door()

    private func server(staleAnswers: Int = 0) throws -> ScriptedServer {
        let digest = DigestServer(user: door.alice.user ?? "", password: "s3cret", staleAnswers: staleAnswers)
        return try ScriptedServer { request in
            digest.refusal(of: request) ?? .respond(body: .text("open to \(request.method) \(request.text)"))
        }
    }

    @Test func aDigestIsAnswered() async throws {
        let server = try server()
        let operation = door.operation(server.url(path: "/a?b=c"), door.alice)
        operation.start()
        #expect(try await operation.value as? Data == Data("open to GET ".utf8))
        #expect(operation.metrics?.transferCount == 2)
        // The password has not been sent, nor anything like it.
        #expect(server.authorizations.allSatisfy { $0 == "-" || $0.hasPrefix("Digest ") })
    }

    @Test func thatItIsADigestIsRemembered() async throws {
        let server = try server()
        #expect(await door.operation(server.url, door.alice).status() == 200)
        let before = server.requests.count
        let operation = door.operation(server.url, door.alice)
        #expect(await operation.status() == 200)
        // libcurl has to ask for a nonce, and that is one transfer.
        #expect(server.requests.count == before + 2)
        #expect(operation.metrics?.transferCount == 1)
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
    func aBodyIsSentWhenTheServerIsSatisfied(method: String) async throws {
        let server = try server()
        var request = URLRequest(url: server.url)
        request.httpMethod = method
        request.httpBody = Data("body".utf8)
        for _ in 0..<2 {
            let operation = door.operation(request, door.alice)
            operation.start()
            #expect(try await operation.value as? Data == Data("open to \(method) body".utf8))
        }
        // Without a nonce, libcurl asks without the body.
        #expect(server.requests.map(\.text) == ["body", "", "body", "body", "", "body"])
    }

    @Test func aStreamThatCanBeReadOnceIsSentWhereTheServerIsKnown() async throws {
        let server = try server()
        #expect(await door.operation(server.url, door.alice).status() == 200)
        var request = URLRequest(url: server.url)
        request.httpMethod = "POST"
        let operation = door.operation(request, door.alice)
        operation.bodySource = .stream(InputStream(data: Data("body".utf8)), length: 4)
        let sent = Recorder<Int64>()
        operation.setUploadProgress { _, total, _ in sent.append(total) }
        let isTold = Gate()
        operation.completionBlock = { isTold.open() }
        operation.start()
        // It was given to somebody once, who has not read it before libcurl knew what to say.
        #expect(try await operation.value as? Data == Data("open to POST body".utf8))
        // The result is there before the last callback.
        try await isTold.wait()
        #expect(sent.elements.last == 4)
    }

    /// libcurl asked with an empty body, and the server wanted nobody's name any more.
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
        #expect(server.requests.map(\.text) == ["body", "", "body"])
        #expect(try await observer.heads.wait(count: 1) == [200])
    }

    @Test(arguments: [("POST", 3), ("PUT", 4)])
    func whatADeadConnectionSwallowsIsSentAgainOnlyIfThatDoesNoHarm(method: String, count: Int) async throws {
        let server = try ScriptedServer { request in
            switch request.number {
            case 0, 1: Door.closed("Digest realm=a, nonce=1")
            case 2: .hangUp
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
        #expect(server.requests.map(\.text).prefix(3) == ["body", "", "body"])
        #expect(server.requests.count == count)
    }

    @Test func aStaleNonceIsReplaced() async throws {
        let server = try server(staleAnswers: 3)
        #expect(await door.operation(server.url, door.alice).status() == 200)
    }

    @Test func noncesThatAreAlwaysStaleEnd() async throws {
        let server = try server(staleAnswers: .max)
        let operation = door.operation(server.url, door.alice)
        operation.start()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        #expect(error?.code == .userAuthenticationRequired)
        #expect(server.requests.count < 15)
    }

    @Test func namesAndRealmsWithQuotesStayWhereTheyAre() async throws {
        let credential = Credential(user: "a\", realm=\"evil", password: "p")
        let server = try ScriptedServer([Door.closed("Digest realm=\"x\\\"y\", nonce=\"1\", qop=\"auth\"")])
        let operation = door.operation(server.url, credential)
        #expect(await operation.status() == 401)
        let sent = AuthenticationOffer.offers(in: server.authorizations.filter { $0 != "-" })
        #expect(sent.first?.parameters["username"] == "a\", realm=\"evil")
        #expect(sent.first?.parameters["realm"] == "x\"y")
    }

    @Test func anEmpty401IsAResponse() async throws {
        let server = try ScriptedServer([Door.closed("Digest realm=a, nonce=1", body: "")])
        let operation = door.operation(server.url, door.alice)
        #expect(await operation.status() == 401)
        #expect(operation.responseData?.isEmpty == true)
    }

    @Test func aHandleThatWasUsedForSomebodyIsNobodys() async throws {
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
}
