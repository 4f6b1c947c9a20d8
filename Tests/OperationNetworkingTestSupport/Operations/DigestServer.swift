import Foundation
import OperationNetworkingSystem
import OperationNetworkingTesting

@testable import OperationNetworking

/// A server that knows Digest (RFC 7616) with MD5, takes no number of a nonce twice, and can misbehave.
final class DigestServer: Sendable {
    private let user: String
    private let password: String
    private let realm: String
    /// The numbers that each nonce was used with.
    private let nonces = Locked<[String: Set<String>]>([:])
    private let nonceCount = Locked(0)
    /// The number of answers that are called stale.
    private let staleAnswers: Int

    init(user: String, password: String, realm: String = "door", staleAnswers: Int = 0) {
        self.user = user
        self.password = password
        self.realm = realm
        self.staleAnswers = staleAnswers
    }

    /// The parameters of an `Authorization` field; `nil` if it is none.
    static func parameters(of field: String) -> [String: String]? {
        AuthenticationOffer.offers(in: [field]).first?.parameters
    }

    /// The answer to a request; `nil`: it is let in.
    func refusal(of request: ReceivedRequest) -> Answer? {
        let offers = AuthenticationOffer.offers(in: request.headers.values(of: "Authorization"))
        guard let answer = offers.first, answer.scheme == .digest else { return challenge(isStale: false) }
        let said = answer.parameters
        if nonceCount.withLock({ $0 <= staleAnswers }) { return challenge(isStale: true) }
        let isRight =
            said["username"] == user && said["uri"] == request.target && said["realm"] == realm
            && said["response"]
                == Self.md5(
                    [
                        Self.md5("\(user):\(realm):\(password)"), said["nonce"] ?? "", said["nc"] ?? "",
                        said["cnonce"] ?? "", "auth", Self.md5("\(request.method):\(request.target)"),
                    ].joined(separator: ":")
                )
        guard isRight, use(said["nonce"] ?? "", said["nc"] ?? "") else { return challenge(isStale: false) }
        return nil
    }

    /// Whether it would let the request in, which may come once more.
    func takes(_ request: ReceivedRequest) -> Bool {
        let said = AuthenticationOffer.offers(in: request.headers.values(of: "Authorization")).first?
            .parameters
        return nonces.withLock { nonces in
            nonces[said?["nonce"] ?? ""].map { !$0.contains(said?["nc"] ?? "") } ?? false
        }
    }

    /// As a server that was started anew: what it gave out is worth nothing, and it does not say so.
    func forgetNonces() {
        nonces.withLock { $0 = [:] }
    }

    /// - Returns: another nonce, as if it had been in a challenge.
    func makeNonce() -> String {
        let nonce = UUID().uuidString
        nonces.withLock { $0[nonce] = [] }
        return nonce
    }

    private func use(_ nonce: String, _ count: String) -> Bool {
        nonces.withLock { $0[nonce]?.insert(count).inserted ?? false }
    }

    private func challenge(isStale: Bool) -> Answer {
        nonceCount.withLock { $0 += 1 }
        let stale = isStale ? ", stale=true" : ""
        return Door.closed("Digest realm=\"\(realm)\", nonce=\"\(makeNonce())\", qop=\"auth\"\(stale)")
    }

    private static func md5(_ text: String) -> String {
        (try? FileDigest.of(Data(text.utf8), algorithm: .md5).hex) ?? ""
    }
}
