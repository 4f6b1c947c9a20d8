import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// httpbin's doors; it is started by `scripts/with-servers`.
@Suite(.timeLimit(.minutes(1)), .enabled(if: RealServers.httpbin != nil))
struct AuthenticationServersTests {
    private let door = Door()
    private let url: URL

    init() throws {
        url = try #require(RealServers.httpbin)
    }

    /// The name was not used there before.
    private func user() throws -> String { try #require(door.alice.user) }

    @Test func basic() async throws {
        let url = url.appendingPathComponent("basic-auth/\(try user())/s3cret")
        #expect(await door.operation(url, door.alice).status() == 200)
        #expect(await door.operation(url, door.bob).status() == 401)
        #expect(await door.operation(url).status() == 401)
    }

    @Test(arguments: ["auth", "auth-int", "auth,auth-int", "none"], ["MD5", "SHA-256"])
    func digest(quality: String, algorithm: String) async throws {
        let url = url.appendingPathComponent("digest-auth/\(quality)/\(try user())/s3cret/\(algorithm)")
        for count in [2, 1, 1] {
            let operation = door.operation(url, door.alice)
            #expect(await operation.status() == 200)
            #expect(operation.metrics?.transferCount == count)
        }
        #expect(await door.operation(url, door.bob).status() == 401)
        #expect(await door.operation(url).status() == 401)
    }

    @Test func aDigestThatCannotBeMadeIsA401() async throws {
        let url = url.appendingPathComponent("digest-auth/auth/\(try user())/s3cret/SHA-512")
        #expect(await door.operation(url, door.alice).status() == 401)
    }

    @Test func bearer() async throws {
        let url = url.appendingPathComponent("bearer")
        #expect(await door.operation(url, Credential(bearerToken: "t0ken")).status() == 200)
        #expect(await door.operation(url, door.alice).status() == 401)
        let operation = door.operation(url)
        operation.tokenSource = TokenSource { _ in TokenSource.Token("t0ken") }
        #expect(await operation.status() == 200)
    }

    /// The server answers 404 instead of 401, so there is no challenge: the caller sends the field.
    @Test func hiddenBasic() async throws {
        let url = url.appendingPathComponent("hidden-basic-auth/\(try user())/s3cret")
        #expect(await door.operation(url, door.alice).status() == 404)
        var request = URLRequest(url: url)
        request.setValue(door.aliceField, forHTTPHeaderField: "Authorization")
        #expect(await door.operation(request).status() == 200)
    }

    @Test func theChallengeOfADigestIsReported() async throws {
        let url = url.appendingPathComponent("digest-auth/auth/\(try user())/s3cret/MD5")
        let operation = door.operation(url)
        let schemes = Recorder<AuthenticationScheme?>()
        operation.setAuthenticationChallenge { [door] _, challenge in
            schemes.append(challenge.scheme)
            return .use(challenge.previousFailureCount == 0 ? door.bob : door.alice)
        }
        #expect(await operation.status() == 200)
        #expect(schemes.elements == [.digest, .digest])
    }
}
