import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

// Server trust: what a refusal by the security policy leads to.
extension Exchange {
    /// Questions about the servers of one exchange: one that presents another certificate each time is not to
    /// be trusted.
    private static let maximumTrustedServers = 20

    /// The handshake is over, and nothing was sent. The challenge closure may know the server all the same;
    /// then there is another one.
    func askAboutServer(_ refusal: ServerTrustError) {
        guard let exception = TrustException(refusal), trustedServers.count < Self.maximumTrustedServers,
            let owner, owner.exchangeAnswersChallenges
        else { return retry(after: refusal) }
        let challenge = AuthenticationChallenge(
            url: refusal.url,
            offers: [],
            previousFailureCount: trustedServers.count,
            response: nil,
            serverTrustError: refusal
        )
        stopAsking = owner.exchangeNeedsCredential(
            for: challenge,
            decide: waitWithoutPlace(.answer) { exchange, answer, network in
                exchange.stopAsking = nil
                guard case .trustServer = answer else { return exchange.retry(after: refusal) }
                exchange.trustedServers.insert(exception)
                exchange.prepare(network)
            }
        )
    }
}
