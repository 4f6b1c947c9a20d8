import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// The closure is asked about a 401.
@Suite(.timeLimit(.minutes(1)))
struct AuthenticationChallengeTests {
    private let door = Door()

    @Test func theClosureReceivesTheChallengeOfTheServer() async throws {
        let server = try ScriptedServer([
            .respond(
                401,
                ["WWW-Authenticate": "Basic realm=\"b\", Digest realm=\"d\", nonce=1", "X-Other": "y"]
            )
        ])
        let operation = door.operation(server.url(path: "/a"))
        let challenges = Recorder<AuthenticationChallenge>()
        let senders = Recorder<Bool>()
        operation.setAuthenticationChallenge { sender, challenge in
            senders.append(sender === operation)
            challenges.append(challenge)
            return .continueWithoutCredential
        }
        #expect(await operation.status() == 401)
        let challenge = try #require(challenges.elements.first)
        #expect(challenges.elements.count == 1 && senders.elements == [true])
        #expect(
            challenge.host == "127.0.0.1" && challenge.port == server.port && challenge.protocol == "http"
        )
        #expect(challenge.scheme == .digest && challenge.realm == "d" && challenge.offers.count == 2)
        #expect(challenge.previousFailureCount == 0 && !challenge.isProxy)
        #expect(challenge.response?.statusCode == 401 && challenge.response?.url == server.url(path: "/a"))
        #expect(challenge.response?.value(forHTTPHeaderField: "X-Other") == "y")
    }

    @Test func itIsCalledInsteadOfUsingTheCredential() async throws {
        let server = try door.server()
        let operation = door.operation(server.url, door.bob)
        operation.setAuthenticationChallenge { [door] _, _ in .use(door.alice) }
        #expect(await operation.status() == 200)
        #expect(server.authorizations == ["-", door.aliceField])
    }

    @Test func itIsCalledAgainAfterARefusal() async throws {
        let server = try door.server()
        let operation = door.operation(server.url)
        let counts = Recorder<Int>()
        operation.setAuthenticationChallenge { [door] _, challenge in
            counts.append(challenge.previousFailureCount)
            return .use(challenge.previousFailureCount == 0 ? door.bob : door.alice)
        }
        #expect(await operation.status() == 200)
        #expect(counts.elements == [0, 1])
        #expect(server.authorizations == ["-", door.bobField, door.aliceField])
    }

    @Test func whatWasRefusedIsNotSentTwice() async throws {
        let server = try door.server()
        let operation = door.operation(server.url)
        operation.setAuthenticationChallenge { [door] _, _ in .use(door.bob) }
        #expect(await operation.status() == 401)
        #expect(operation.responseString == "closed")
        #expect(server.authorizations == ["-", door.bobField])
    }

    @Test func guessingEnds() async throws {
        let server = try door.server()
        let operation = door.operation(server.url)
        operation.setAuthenticationChallenge { _, challenge in
            .use(Credential(user: "guess", password: "\(challenge.previousFailureCount)"))
        }
        #expect(await operation.status() == 401)
        #expect(server.requests.count == 21)
    }

    @Test func refusingFailsTheOperation() async throws {
        let server = try door.server()
        let operation = door.operation(server.url, door.alice)
        operation.setAuthenticationChallenge { _, _ in .refuse }
        operation.start()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        #expect(error?.code == .userCancelledAuthentication)
        #expect(operation.response?.statusCode == 401)
        #expect(server.requests.count == 1)
    }

    @Test func continuingWithoutACredentialReturnsThe401() async throws {
        let server = try door.server()
        let operation = door.operation(server.url, door.alice)
        operation.setAuthenticationChallenge { _, _ in .continueWithoutCredential }
        #expect(await operation.status() == 401)
        #expect(operation.responseString == "closed")
        #expect(server.requests.count == 1)
    }

    @Test func theDefaultBehavesAsWithoutAClosure() async throws {
        let server = try door.server()
        let operation = door.operation(server.url, door.alice)
        operation.setAuthenticationChallenge { _, _ in .performDefaultHandling }
        #expect(await operation.status() == 200)
        let other = door.operation(server.url, door.bob)
        other.setAuthenticationChallenge { _, _ in .performDefaultHandling }
        #expect(await other.status() == 401)
        #expect(other.responseString == "closed")
    }

    /// The rest of the body never comes.
    @Test(arguments: [true, false])
    func itIsAskedBeforeTheEndOfALongBody(hasAnswer: Bool) async throws {
        let gate = Gate()
        defer { gate.open() }
        let server = try ScriptedServer { [door] request in
            request["Authorization"] == door.aliceField
                ? .respond(body: "open")
                : Door.closed("Basic realm=x", body: .generated(length: 1 << 30)).held(
                    after: .body(4 << 20),
                    by: gate
                )
        }
        let operation = door.operation(server.url)
        operation.setAuthenticationChallenge { [door] _, _ in
            hasAnswer ? .use(door.alice) : .continueWithoutCredential
        }
        #expect(await operation.status() == (hasAnswer ? 200 : 401))
        #expect(operation.responseData?.count == (hasAnswer ? 4 : 1 << 20))
    }

    @Test func aCredentialThatTheServerDoesNotTakeIsNotSent() async throws {
        let server = try door.server()
        for credential in [Credential(bearerToken: "t"), .systemTickets] {
            let operation = door.operation(server.url)
            operation.setAuthenticationChallenge { _, _ in .use(credential) }
            #expect(await operation.status() == 401)
        }
        #expect(server.authorizations == ["-", "-"])
    }

    @Test func anAnswerThatWouldBeAnInjectionIsAnError() async throws {
        let server = try door.server()
        let operation = door.operation(server.url)
        operation.setAuthenticationChallenge { _, _ in .use(Credential(user: "a", password: "b\r\nX: y")) }
        operation.start()
        await #expect(throws: CredentialError.controlCharacter(in: .password)) { try await operation.value }
        #expect(server.requests.count == 1)
    }

    @Test func itSeesTheHostThatARedirectLedTo() async throws {
        let other = try door.server()
        let server = try ScriptedServer([.redirect(to: "http://localhost:\(other.port)/")])
        let operation = door.operation(server.url)
        operation.setAuthenticationChallenge { [door] _, challenge in
            challenge.host == "localhost" && challenge.port == other.port ? .use(door.alice) : .refuse
        }
        #expect(await operation.status() == 200)
        #expect(server.authorizations == ["-"] && other.authorizations == ["-", door.aliceField])
    }

    @Test func whatItAnsweredIsGoodForTheNextHop() async throws {
        let server = try ScriptedServer { [door] request in
            guard request["Authorization"] == door.aliceField else { return Door.closed("Basic realm=a") }
            return request.path == "/a" ? .redirect(to: "/b") : .respond(body: "open")
        }
        let operation = door.operation(server.url(path: "/a"))
        let asked = Recorder<Int>()
        operation.setAuthenticationChallenge { [door] _, challenge in
            asked.append(challenge.previousFailureCount)
            return .use(door.alice)
        }
        #expect(await operation.status() == 200)
        #expect(asked.elements == [0])
    }

    @Test func aManagersClosureIsThatOfItsOperations() async throws {
        let server = try door.server()
        let manager = OperationManager(baseURL: server.url)
        manager.completionQueue = DispatchQueue(label: "callbacks")
        manager.responseSerializer = HTTPResponseSerializer()
        manager.setAuthenticationChallenge { [door] _, _ in .use(door.alice) }
        #expect(try await manager.get("a") as? Data == Data("open to GET ".utf8))
        manager.setAuthenticationChallenge(nil)
        manager.credential = door.alice
        #expect(try await manager.post("b") as? Data == Data("open to POST ".utf8))
        let copy = try #require(manager.copy() as? OperationManager)
        #expect(copy.credential == door.alice && copy.shouldUseCredentialStorage)
    }

    // MARK: - While the closure thinks

    /// An operation whose closure waits until it may answer.
    private func thinking(_ server: ScriptedServer) -> (HTTPRequestOperation, asked: Gate, answer: Gate) {
        let operation = door.operation(server.url)
        let (asked, answer) = (Gate(), Gate())
        operation.setAuthenticationChallenge { [door] _, _ in
            asked.open()
            try? await answer.wait()
            return .use(door.alice)
        }
        return (operation, asked, answer)
    }

    @Test func aCancelDoesNotWaitForTheAnswer() async throws {
        let server = try door.server()
        let (operation, asked, answer) = thinking(server)
        operation.start()
        try await asked.wait()
        operation.cancel()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        #expect(error?.code == .cancelled)
        answer.open()
        try await networkThreadIsDone()
        #expect(server.requests.count == 1)
    }

    @Test func aPauseCancelsTheCallAndAResumeRepeatsIt() async throws {
        let server = try door.server()
        let operation = door.operation(server.url)
        let asked = Recorder<Int>()
        let isCancelled = Gate()
        let late = Gate()
        operation.setAuthenticationChallenge { [door] _, _ in
            asked.append(1)
            guard asked.elements.count == 1 else { return .use(door.alice) }
            // The task is cancelled, and answers all the same.
            try? await late.wait()
            isCancelled.open()
            return .use(door.bob)
        }
        operation.start()
        try await asked.wait(count: 1)
        operation.pause()
        try await isCancelled.wait()
        try await networkThreadIsDone()
        #expect(server.requests.count == 1)
        operation.resume()
        #expect(try await operation.value as? Data == Data("open to GET ".utf8))
        #expect(server.authorizations == ["-", "-", door.aliceField])
    }

    @Test func manyOperationsCallItAtTheSameTime() async throws {
        let server = try door.server()
        let manager = OperationManager(baseURL: server.url)
        manager.completionQueue = DispatchQueue(label: "callbacks")
        manager.responseSerializer = HTTPResponseSerializer()
        let everybody = Gate()
        let asked = Recorder<Int>()
        manager.setAuthenticationChallenge { [door] _, _ in
            asked.append(1)
            try? await everybody.wait()
            return .use(door.alice)
        }
        let operations = (0..<8).map { _ in manager.operation(for: URLRequest(url: server.url)) }
        for operation in operations { operation.start() }
        try await asked.wait(count: 8)
        everybody.open()
        for operation in operations { _ = try await operation.value }
        #expect(operations.allSatisfy { $0.response?.statusCode == 200 })
    }

    /// The operation's own closures are released by then.
    @Test func aCopyOfAnOperationThatHasEndedAsksItsManagersClosure() async throws {
        let server = try door.server()
        let manager = OperationManager(baseURL: server.url)
        manager.completionQueue = DispatchQueue(label: "callbacks")
        manager.responseSerializer = HTTPResponseSerializer()
        let asked = Recorder<Int>()
        manager.setAuthenticationChallenge { [door] _, _ in
            asked.append(1)
            return asked.elements.count == 1 ? .refuse : .use(door.alice)
        }
        let operation = manager.operation(for: URLRequest(url: server.url))
        operation.start()
        await #expect(throws: URLError.self) { try await operation.value }
        let copy = operation.copied()
        copy.start()
        #expect(try await copy.value as? Data == Data("open to GET ".utf8))
    }
}
