import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

// Server trust: the reaction to a rejection by the security policy.
extension Exchange {
    /// The maximum number of exceptions in one exchange: a server that presents a different certificate each
    /// time must not be trusted.
    private static let maximumTrustedServers = 20

    /// Asks the challenge closure about a server that the security policy rejected. The handshake has ended
    /// and nothing was sent; if the closure trusts the server, there is another handshake.
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
        cancelPending = owner.exchangeNeedsCredential(
            for: challenge,
            decide: waitWithoutSlot(.answer) { exchange, answer, network in
                exchange.cancelPending = nil
                guard case .trustServer = answer else { return exchange.retry(after: refusal) }
                exchange.trustedServers.insert(exception)
                exchange.prepare(network)
            }
        )
    }
}
