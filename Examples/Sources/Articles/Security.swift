// The samples stand as the documentation has them:
// swift-format-ignore-file

import Foundation
import FoundationNetworking
import OperationNetworking

// The article Security. Compiled, and not called.

nonisolated struct Login: Decodable, Sendable {
    let token: String
    let expiry: Date
}

@MainActor
final class Security {
    let manager = OperationManager()

    func ask(_ host: String) async -> String { host }

    func pins(_ pins: URL) async throws {
        // MARK: Example

        manager.securityPolicy = SecurityPolicy(
            pinningMode: .publicKey,
            pinnedCertificates: try X509Certificate.all(inDirectory: pins))
        let users = try await manager.get("users", as: [User].self)

        // MARK: End of example
        print(users)
    }

    func transport(_ authorities: URL, _ identity: URL, passphrase: String) throws {
        // MARK: Example

        manager.trustAnchors = .file(authorities)
        manager.tlsVersions = .v1_3 ... .v1_3
        manager.clientIdentity = try ClientIdentity(pkcs12File: identity, passphrase: passphrase)

        // MARK: End of example
    }

    func user(_ user: String, password: String) {
        // MARK: Example

        manager.credential = Credential(user: user, password: password)

        // MARK: End of example
        // MARK: Example

        manager.setAuthenticationChallenge { operation, challenge in
            guard challenge.previousFailureCount == 0 else { return .refuse }
            let password = await self.ask(challenge.host)
            return .use(Credential(user: user, password: password))
        }

        // MARK: End of example
    }

    func token(_ login: OperationManager, saved: String) {
        // MARK: Example

        manager.tokenSource = TokenSource(TokenSource.Token(saved)) { last in
            let answer = try await login.post("token", as: Login.self)      // by another manager
            return TokenSource.Token(answer.token, expiry: answer.expiry)
        }

        // MARK: End of example
    }

    func redirects() {
        // MARK: Example

        manager.redirectPolicy.maximumCount = 5
        manager.redirectPolicy.droppedHeaders.insert("X-Tenant")

        // MARK: End of example
    }

    func connections() throws {
        // MARK: Example

        manager.cookieJar = CookieJar()         // instead of the shared one
        manager.proxyConfiguration = .proxy(try Proxy("socks5h://localhost:1080"))

        // MARK: End of example
    }
}
