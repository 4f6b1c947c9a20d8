import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Credentials and 401s, without a closure.
@Suite(.timeLimit(.minutes(1)))
struct AuthenticationTests {
    private let door = Door()

    @Test func withoutACredentialA401IsTheResponse() async throws {
        let server = try door.server()
        let operation = door.operation(server.url)
        #expect(await operation.status() == 401)
        #expect(operation.responseString == "closed")
        #expect(operation.error is ResponseSerializationError)
        #expect(server.requests.count == 1)
    }

    @Test func aCredentialIsSentWhenTheServerAsks() async throws {
        let server = try door.server()
        let operation = door.operation(server.url, door.alice)
        operation.start()
        #expect(try await operation.value as? Data == Data("open to GET ".utf8))
        #expect(server.authorizations == ["-", door.aliceField])
        // The connection is used again.
        #expect(server.connectionsAccepted == 1)
        #expect(operation.metrics?.transferCount == 2)
    }

    @Test func aCredentialThatIsRefusedIsSentOnce() async throws {
        let server = try door.server()
        let operation = door.operation(server.url, door.bob)
        #expect(await operation.status() == 401)
        #expect(operation.responseString == "closed")
        #expect(server.authorizations == ["-", door.bobField])
    }

    @Test func namesAndPasswordsAreUTF8() async throws {
        let server = try door.server(for: Door.basic("gr\u{FC}n", "\u{1F600}:\""))
        let operation = door.operation(server.url, Credential(user: "gr\u{FC}n", password: "\u{1F600}:\""))
        #expect(await operation.status() == 200)
    }

    @Test func aTokenIsSentWhenTheServerAsks() async throws {
        let server = try door.server(for: "Bearer abc", challenge: "Bearer")
        let operation = door.operation(server.url, Credential(bearerToken: "abc"))
        #expect(await operation.status() == 200)
        #expect(server.authorizations == ["-", "Bearer abc"])
    }

    // MARK: - Remembering

    @Test func anAcceptedCredentialIsSentAtOnceBelowTheSamePath() async throws {
        let server = try door.server()
        for path in ["/a/b", "/a/c/d", "/a/", "/a", "/b/c"] {
            #expect(await door.operation(server.url(path: path), door.alice).status() == 200)
        }
        let known = door.aliceField
        #expect(server.authorizations == ["-", known, known, known, "-", known, known])
    }

    @Test func aCredentialOfOneOperationIsNotSentByAnother() async throws {
        let server = try door.server()
        #expect(await door.operation(server.url, door.alice).status() == 200)
        #expect(await door.operation(server.url).status() == 401)
        #expect(await door.operation(server.url, door.bob).status() == 401)
        #expect(server.authorizations.dropFirst(2) == ["-", "-", door.bobField])
    }

    @Test func aCredentialThatIsRefusedLaterIsForgotten() async throws {
        let isOpen = Flag()
        isOpen.set(true)
        let server = try ScriptedServer { request in
            isOpen.value && request["Authorization"] != nil
                ? .respond(body: "x") : Door.closed("Basic realm=a")
        }
        #expect(await door.operation(server.url, door.alice).status() == 200)
        isOpen.set(false)
        #expect(await door.operation(server.url, door.alice).status() == 401)
        #expect(await door.operation(server.url, door.alice).status() == 401)
        let known = door.aliceField
        // The second is not asked twice, because it has been refused; the third begins anew.
        #expect(server.authorizations == ["-", known, known, "-", known])
    }

    // MARK: - What is left alone

    @Test(arguments: [
        [], ["New-Way realm=a"], ["Bearer"], ["Negotiate"], ["@@@"],
        ["Digest nonce=1, algorithm=SHA-512"],
    ])
    func whatCannotBeAnsweredIsTheResponse(_ challenges: [String]) async throws {
        var fields = FieldLines()
        for challenge in challenges { fields.append("WWW-Authenticate", challenge) }
        let server = try ScriptedServer([.respond(401, fields, body: "closed")])
        let operation = door.operation(server.url, door.alice)
        #expect(await operation.status() == 401)
        #expect(operation.responseString == "closed")
        #expect(server.requests.count == 1)
    }

    @Test func aSchemeThatIsNotAllowedIsNotUsed() async throws {
        let server = try door.server()
        let operation = door.operation(server.url, door.alice)
        operation.authenticationSchemes = [.digest]
        #expect(await operation.status() == 401)
        #expect(server.authorizations == ["-"])
    }

    @Test func theCallersOwnFieldIsSentFirst() async throws {
        let server = try door.server()
        var request = URLRequest(url: server.url)
        request.setValue("Own", forHTTPHeaderField: "Authorization")
        #expect(await door.operation(request).status() == 401)
        #expect(await door.operation(request, door.alice).status() == 200)
        #expect(server.authorizations == ["Own", "Own", door.aliceField])
    }

    @Test(arguments: [
        Credential(user: "a\r\nX-Evil: 1", password: "b"), Credential(user: "a", password: "b\nX-Evil: 1"),
        Credential(user: "a:b", password: "c"),
    ])
    func whatWouldBeAnInjectionIsAnError(_ credential: Credential) async throws {
        let server = try door.server()
        let operation = door.operation(server.url, credential)
        operation.start()
        await #expect(throws: CredentialError.self) { try await operation.value }
        #expect(server.authorizations == ["-"])
    }

    @Test func aHostileRealmIsHarmless() async throws {
        for realm in ["\\\"\\r\\n", "a\\\\", String(repeating: "r", count: 50_000)] {
            let server = try door.server(challenge: "Basic realm=\"\(realm)\"")
            #expect(await door.operation(server.url, door.alice).status() == 200)
            #expect(server.requests.count == 2)
        }
    }

    @Test func aConnectionThatClosesAfterThe401IsReplaced() async throws {
        let server = try ScriptedServer { request in
            request["Authorization"] == nil
                ? Door.closed("Basic realm=a").closing(silently: true) : .respond(body: "open")
        }
        #expect(await door.operation(server.url, door.alice).status() == 200)
        #expect(server.connectionsAccepted == 2)
    }

    @Test func a401WithATruncatedBodyIsStillAnswered() async throws {
        let server = try ScriptedServer { request in
            request["Authorization"] == nil
                ? Door.closed("Basic realm=a", body: "0123456789").breaking(after: .body(4))
                : .respond(body: "x")
        }
        #expect(await door.operation(server.url, door.alice).status() == 200)
    }

    @Test func aHugeBodyOfA401IsNotReceived() async throws {
        let server = try ScriptedServer { request in
            request["Authorization"] == nil
                ? Door.closed("Basic realm=a", body: .generated(length: 1 << 30)) : .respond(body: "open")
        }
        let operation = door.operation(server.url, door.alice)
        #expect(await operation.status() == 200)
        #expect(operation.responseString == "open")
        #expect((operation.metrics?.bytesReceived ?? 0) < 1 << 20)
    }

    @Test func aPolicyThatRetries401sComesAfterTheCredential() async throws {
        let server = try ScriptedServer { request in
            request.number < 3 ? Door.closed("Basic realm=a") : .respond(body: "open")
        }
        let operation = door.operation(server.url, door.alice)
        var policy = RetryPolicy(maximumRetries: 2)
        policy.statusCodes = [401]
        policy.initialDelay = 0
        operation.retryPolicy = policy
        #expect(await operation.status() == 200)
        let known = door.aliceField
        #expect(server.authorizations == ["-", known, "-", known])
    }
}

/// A truth that may change.
final class Flag: Sendable {
    private let recorder = Recorder<Bool>()
    var value: Bool { recorder.elements.last ?? false }
    func set(_ value: Bool) { recorder.append(value) }
}
