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
        else { return tryAgain(after: refusal) }
        phase = .deciding
        let challenge = AuthenticationChallenge(
            url: refusal.url,
            offers: [],
            previousFailureCount: trustedServers.count,
            response: nil,
            serverTrustError: refusal
        )
        stopAsking = owner.exchangeNeedsCredential(for: challenge) { [round] answer in
            NetworkThread.shared.perform { room in
                guard self.round == round, case .deciding = self.phase else { return }
                self.stopAsking = nil
                guard case .trustServer = answer else { return self.tryAgain(after: refusal) }
                self.trustedServers.insert(exception)
                self.startTransfer(room)
            }
        }
    }
}
