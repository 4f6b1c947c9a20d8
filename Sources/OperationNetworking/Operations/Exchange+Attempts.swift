import Dispatch
import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

// Attempts: whether and when the whole begins again.
extension Exchange {
    /// Seconds until another attempt, if this response may be better then.
    func retryDelay(after head: ResponseHead) -> TimeInterval? {
        guard canSendAgain, let url = hop.url, let response = head.response(for: url),
            let delay = attempts.wait(after: head, to: configuration.request, now: clock.now)
        else { return nil }
        owner?.exchangeWillRetry(Retry(cause: .response(response), delay: delay))
        return delay
    }

    func tryAgain(after error: any Error) {
        guard canSendAgain, let delay = attempts.wait(after: error, to: configuration.request, now: clock.now)
        else {
            return fail(error)
        }
        owner?.exchangeWillRetry(Retry(cause: .error(error), delay: delay))
        tryAgain(after: delay)
    }

    private var canSendAgain: Bool {
        sink.failure == nil && (configuration.body?.canStartAgain ?? true)
    }

    /// Whoever cancels or pauses meanwhile begins another round, and nothing comes of this one.
    func tryAgain(after delay: TimeInterval) {
        phase = .idle
        sink.settle()
        round += 1
        // Weakly: the wait may be ten minutes, and the operation may be cancelled and released long before.
        DispatchQueue.global().asyncAfter(deadline: .now() + delay) { [weak self, round] in
            NetworkThread.shared.perform { [weak self] transfers in
                guard let self, self.round == round, case .idle = self.phase else { return }
                self.startFromFirstHop(transfers)
            }
        }
    }
}
