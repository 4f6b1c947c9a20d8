import Foundation
import OperationNetworkingTesting

@testable import OperationNetworking

/// A server that knows Digest (RFC 7616) with MD5, and can misbehave.
final class DigestServer: Sendable {
    private let user: String
    private let password: String
    private let nonces = Recorder<String>()
    /// So many answers are called stale.
    private let staleAnswers: Int

    init(user: String, password: String, staleAnswers: Int = 0) {
        self.user = user
        self.password = password
        self.staleAnswers = staleAnswers
    }

    /// What it says to a request: `nil`, come in.
    func refusal(of request: ReceivedRequest) -> Answer? {
        let offers = AuthenticationOffer.offers(in: request.headers.values(of: "Authorization"))
        guard let answer = offers.first, answer.scheme == .digest else { return challenge(isStale: false) }
        let said = answer.parameters
        if nonces.elements.count <= staleAnswers { return challenge(isStale: true) }
        let isRight =
            said["username"] == user && said["uri"] == request.target
            && said["nonce"].map(nonces.elements.contains) == true
            && said["response"]
                == Self.md5(
                    [
                        Self.md5("\(user):door:\(password)"), said["nonce"] ?? "", said["nc"] ?? "",
                        said["cnonce"] ?? "", "auth", Self.md5("\(request.method):\(request.target)"),
                    ].joined(separator: ":")
                )
        return isRight ? nil : challenge(isStale: false)
    }

    private func challenge(isStale: Bool) -> Answer {
        let nonce = UUID().uuidString
        nonces.append(nonce)
        let stale = isStale ? ", stale=true" : ""
        return Door.closed("Digest realm=\"door\", nonce=\"\(nonce)\", qop=\"auth\"\(stale)")
    }

    private static func md5(_ text: String) -> String {
        (try? Digest.of(Data(text.utf8), algorithm: .md5).hex) ?? ""
    }
}
