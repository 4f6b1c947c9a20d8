import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// The origins that a credential goes to.
@Suite(.timeLimit(.minutes(1)))
struct AuthenticationOriginTests {
    private let door = Door()

    @Test func aURLsCredentialIsSentAndNotShown() async throws {
        let server = try door.server()
        let user = try #require(door.alice.user)
        let operation = door.operation(server.url.with(user: user, password: "s3cret"), door.bob)
        operation.start()
        #expect(try await operation.value != nil)
        #expect(server.authorizations == ["-", door.aliceField])
        #expect(operation.response?.url == server.url)
        #expect(server.requests.allSatisfy { !$0.headers.description.contains(user) })
        #expect(!operation.description.contains("s3cret"))
        // The request is what it was.
        #expect(operation.request.url?.password == "s3cret")
    }

    @Test(arguments: [false, true])
    func aURLsCredentialIsForAllOfItsOrigin(isLedThroughAnother: Bool) async throws {
        let back = Recorder<URL>()
        let other = try ScriptedServer { _ in .redirect(to: back.elements[0].absoluteString) }
        let server = try ScriptedServer { [door] request in
            if request.path == "/" {
                return .redirect(to: isLedThroughAnother ? other.url.absoluteString : "/there")
            }
            return request["Authorization"] == door.aliceField
                ? .respond(body: "open") : Door.closed("Basic realm=a")
        }
        back.append(server.url(path: "/there"))
        let url = server.url.with(user: try #require(door.alice.user), password: "s3cret")
        #expect(await door.operation(url).status() == 200)
        #expect(server.authorizations == ["-", "-", door.aliceField])
        #expect(other.authorizations.allSatisfy { $0 == "-" })
    }

    @Test(arguments: ["u:p%E4ss", "%E4:pass"])
    func aTextInTheURLThatIsNotUTF8IsAnError(information: String) async throws {
        let server = try door.server()
        let url = try #require(URL(string: "http://\(information)@127.0.0.1:\(server.port)/"))
        let operation = door.operation(url, door.alice)
        operation.start()
        let error = await #expect(throws: CredentialError.self) { try await operation.value }
        guard case .notUTF8 = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(server.requests.isEmpty)
    }

    // MARK: - A user without a password

    @Test func theOperationsCredentialHasThePasswordOfTheURLsUser() async throws {
        let server = try door.server()
        let user = try #require(door.alice.user)
        let url = server.url.with(user: user, password: nil)
        #expect(await door.operation(url, door.alice).status() == 200)
        #expect(server.authorizations == ["-", door.aliceField])
    }

    /// As in curl. Some servers take a token for the name, and no password.
    @Test func aUserAloneHasAnEmptyPassword() async throws {
        let user = try #require(door.alice.user)
        let server = try door.server(for: Door.basic(user, ""))
        #expect(await door.operation(server.url.with(user: user, password: nil)).status() == 200)
        #expect(server.authorizations == ["-", Door.basic(user, "")])
    }

    /// One that the URL gives as empty, or of another user, is what was asked for, and comes first.
    @Test(arguments: [false, true])
    func whatTheURLSaysComesBeforeTheCredential(isAnotherUser: Bool) async throws {
        let server = try door.server()
        let user = try #require(isAnotherUser ? door.bob.user : door.alice.user)
        let url = server.url.with(user: user, password: isAnotherUser ? nil : "")
        #expect(await door.operation(url, door.alice).status() == 200)
        #expect(server.authorizations == ["-", Door.basic(user, ""), door.aliceField])
    }

    @Test func aURLsCredentialIsInNoError() async throws {
        let server = try ScriptedServer([.hangUp])
        let url = server.url.with(user: "u", password: "s3cret")
        let operation = door.operation(url)
        operation.start()
        let error = try #require(await #expect(throws: URLError.self) { try await operation.value })
        #expect(!"\(error) \(error.userInfo)".contains("s3cret"))
        let cancelled = door.operation(url)
        cancelled.cancel()
        cancelled.start()
        #expect(!"\(String(describing: cancelled.error))".contains("s3cret"))
    }

    /// What is written beside a part of a file names the address alone.
    @Test func aURLsCredentialIsNotWrittenDown() async throws {
        let scene = try DownloadScene(answers: [
            .currentRepresentation.breaking(after: .body(100_000)), .currentRepresentation,
        ])
        let url = scene.server.url.with(user: "u", password: "s3cret")
        func operation() -> DownloadOperation {
            let operation = DownloadOperation(request: URLRequest(url: url), to: scene.target)
            operation.completionQueue = DispatchQueue(label: "callbacks")
            operation.retryPolicy = nil
            return operation
        }
        await #expect(throws: URLError.self) { try await scene.run(operation()).get() }
        let record = try Data(contentsOf: scene.checkpoint)
        #expect(record.range(of: Data("127.0.0.1".utf8)) != nil)
        #expect(record.range(of: Data("s3cret".utf8)) == nil)
        _ = try await scene.run(operation()).get()
        #expect(scene.server.requests.map { $0["Range"] } == [nil, "bytes=100000-"])
    }

    @Test func aRedirectToAnotherOriginLeavesTheCredentialBehind() async throws {
        let other = try door.server()
        let server = try ScriptedServer([.redirect(to: other.url.absoluteString)])
        let operation = door.operation(
            server.url.with(user: try #require(door.alice.user), password: "s3cret")
        )
        operation.credential = door.alice
        #expect(await operation.status() == 401)
        #expect(other.authorizations == ["-"])
    }

    @Test func whatAnOriginTookIsNotSentToTheNext() async throws {
        let other = try door.server()
        // The other one learned it from its closure, and that is remembered.
        #expect(await door.operation(other.url, door.alice).status() == 200)
        let address = other.url.absoluteString
        let server = try ScriptedServer { [door] request in
            request["Authorization"] == door.aliceField
                ? .redirect(to: address) : Door.closed("Basic realm=a")
        }
        #expect(await door.operation(server.url, door.alice).status() == 401)
        #expect(server.authorizations == ["-", door.aliceField])
        #expect(other.authorizations == ["-", door.aliceField, "-"])
    }

    @Test func aUserInARedirectIsDropped() async throws {
        for isOther in [false, true] {
            let other = try door.server()
            let target = isOther ? other : nil as ScriptedServer?
            let url = try #require(URL(string: "http://127.0.0.1:\(other.port)/there"))
            let evil = url.with(user: try #require(door.alice.user), password: "s3cret")
            let server = try ScriptedServer { request in
                request.path == "/"
                    ? .redirect(to: isOther ? evil.absoluteString : "//u:p@\(request["Host"] ?? "")/there")
                    : Door.closed("Basic realm=a")
            }
            let operation = door.operation(server.url)
            let offered = Recorder<URL?>()
            operation.setRedirect { _, request, _ in
                offered.append(request.url)
                return request
            }
            #expect(await operation.status() == 401)
            #expect(offered.elements.count == 1 && offered.elements.allSatisfy { $0?.user == nil })
            #expect((target ?? server).authorizations.allSatisfy { $0 == "-" })
        }
    }

    @Test func aRedirectWithinTheOriginTakesTheCredentialAlong() async throws {
        let server = try ScriptedServer { [door] request in
            guard request["Authorization"] == door.aliceField else { return Door.closed("Basic realm=a") }
            return request.path == "/" ? .redirect(to: "/there") : .respond(body: "open")
        }
        #expect(await door.operation(server.url, door.alice).status() == 200)
        #expect(server.authorizations == ["-", door.aliceField, door.aliceField])
    }

    // MARK: - The storage

    @Test func theStorageIsAskedByTheProtectionSpace() async throws {
        let server = try door.server(challenge: "Basic realm=\"stored\"")
        let user = try #require(door.alice.user)
        let space = URLProtectionSpace(
            host: "127.0.0.1",
            port: server.port,
            protocol: "http",
            realm: "stored",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic
        )
        let stored = URLCredential(user: user, password: "s3cret", persistence: .forSession)
        URLCredentialStorage.shared.setDefaultCredential(stored, for: space)
        defer { URLCredentialStorage.shared.remove(stored, for: space) }
        // After the operation's own.
        #expect(await door.operation(server.url, door.bob).status() == 200)
        #expect(server.authorizations == ["-", door.bobField, door.aliceField])
        let other = door.operation(server.url)
        other.shouldUseCredentialStorage = false
        #expect(await other.status() == 401)
        let elsewhere = try door.server(challenge: "Basic realm=\"another\"")
        #expect(await door.operation(elsewhere.url).status() == 401)
        // The password of the user whom a URL names alone; of another user's the URL says nothing.
        let named = door.operation(server.url.with(user: user, password: nil))
        #expect(await named.status() == 200)
        #expect(server.authorizations.suffix(2) == ["-", door.aliceField])
        let bob = try #require(door.bob.user)
        #expect(await door.operation(server.url.with(user: bob, password: nil)).status() == 200)
        #expect(server.authorizations.suffix(3) == ["-", Door.basic(bob, ""), door.aliceField])
    }
}
