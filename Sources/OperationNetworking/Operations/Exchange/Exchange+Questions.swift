import Dispatch
import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

// Responses that lead to another request, at once or when the owner has said so, and what becomes of their
// bodies.
extension Exchange {
    // MARK: - Without a question

    /// Called from within libcurl, by which `head` came: `next` follows, and its body is of no use.
    func discardBody(of head: ResponseHead, then next: @escaping (Exchange) -> Void) -> HeadAnswer {
        verdict = .goOn(next)
        guard isWorthReceiving(head), case .transferring(let id) = phase else { return .refuse }
        discardBody(atMost: UnusedBody.maximumLength, id)
        return .receive
    }

    private func isWorthReceiving(_ head: ResponseHead) -> Bool {
        let method = (hop.httpMethod ?? "GET").uppercased()
        guard let length = try? MessageLength(method: method, head: head) else { return false }
        return UnusedBody.isWorthReceiving(length)
    }

    private func discardBody(atMost count: Int, _ id: TransferID) {
        bodyUse = .discard(count)
        giveUp(id, after: UnusedBody.patience) { if case .discard = $0 { true } else { false } }
    }

    /// Where the body of a success would go elsewhere than to memory, that of another response only explains
    /// why there is none: the status says so already, and what came of it in time is enough.
    func limitExplanation(_ id: TransferID) {
        guard configuration.bodyExplains else { return }
        giveUp(id, after: UnusedBody.patienceForExplanations) {
            if case .keepAside = $0 { true } else { false }
        }
    }

    /// Gives the transfer up if it still runs after `seconds`, and its body still has a use that `matches`.
    private func giveUp(
        _ id: TransferID,
        after seconds: Double,
        if matches: @escaping @Sendable (BodyUse) -> Bool
    ) {
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak self] in
            NetworkThread.shared.perform { [weak self] room in
                guard let self, case .transferring(id) = self.phase, matches(self.bodyUse) else { return }
                runner(room).giveUp(id)
            }
        }
    }

    // MARK: - Questions

    /// The owner is asked what follows a head, whose body may become the response's. Each answer has to be
    /// taken by ``goOn(_:after:then:)``, ``take(_:_:)`` or ``fail(_:after:_:)``, unless another question
    /// follows.
    /// - Parameter use: what becomes of the body meanwhile.
    func beginAsking(_ use: BodyUse) {
        verdict = .asking
        bodyUse = use
    }

    /// Whether an answer to what was asked in `round` is still awaited.
    func isAsked(in round: Int) -> Bool {
        guard self.round == round, case .asking = verdict else { return false }
        stopAsking = nil
        return true
    }

    /// The transfer has ended before there was an answer.
    func awaitAnswer(after end: TransferEnd) {
        phase = .deciding
        endBeforeAnswer = end
    }

    /// `next` follows, and the body is of no use.
    func goOn(_ room: NetworkRoom, after head: ResponseHead, then next: @escaping (Exchange) -> Void) {
        let left = UnusedBody.maximumLength - sideBody.count
        verdict = .goOn(next)
        bodyUse = .drop
        sideBody = Data()
        guard case .transferring(let id) = phase else { return next(self) }
        guard left > 0, isWorthReceiving(head) else { return runner(room).giveUp(id) }
        discardBody(atMost: left, id)
        runner(room).receive(id)
    }

    /// The head is that of the response, with the rest of its body.
    func take(_ head: ResponseHead, _ room: NetworkRoom) {
        verdict = .none
        tell(head)
        if case .transferring(let id) = phase {
            if case .keepAside = bodyUse { limitExplanation(id) }
            runner(room).receive(id)
        } else if let end = endBeforeAnswer {
            endBeforeAnswer = nil
            bodyDidEnd(end)
        } else {
            finish()
        }
    }

    /// The head is that of the response, which is an error when its body has come.
    func fail(_ error: any Error, after head: ResponseHead, _ room: NetworkRoom) {
        tell(head)
        guard case .transferring(let id) = phase else { return fail(error) }
        verdict = .fail(error)
        limitExplanation(id)
        runner(room).receive(id)
    }
}

extension TransferError {
    /// Whether the rest of the body was not wanted.
    var isRefusal: Bool {
        switch self {
        case .refused: true
        case .client(let error): if case .refused? = error as? TransferError { true } else { false }
        default: false
        }
    }
}
