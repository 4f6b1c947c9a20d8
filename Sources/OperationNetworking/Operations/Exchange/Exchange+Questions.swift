import Dispatch
import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

// Responses that lead to another request, at once or when the owner has said so, and what becomes of their
// bodies.
extension Exchange {
    /// A question about what the owner knows.
    enum Question {
        case redirect(HTTPURLResponse, to: URLRequest, from: URL)
        case address(HTTPURLResponse)
        case credential(AuthenticationChallenge, [AuthenticationOffer])
        case response(HTTPURLResponse)
    }

    // MARK: - Without a question

    /// `next` follows, and the body is of no use.
    func goOn(_ next: ExchangeNext, after head: ResponseHead) -> Machine.Decision {
        .goOn(next, receiving: isWorthReceiving(head) ? UnusedBody.maximumLength : nil)
    }

    private func isWorthReceiving(_ head: ResponseHead) -> Bool {
        guard let length = try? MessageLength(method: route.method, head: head) else { return false }
        return UnusedBody.isWorthReceiving(length)
    }

    /// Gives the transfer up if it still runs when the body, which no sink gets, has had its time. Where the
    /// body of a success would go elsewhere than to memory, that of another response only explains why there
    /// is none: the status says so already, and what came of it in time is enough.
    func limitUnusedBody() {
        guard let (id, use) = machine.unusedTransfer, use == .discarded || configuration.bodyExplains else {
            return
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + use.patience) { [weak self] in
            NetworkThread.shared.perform { [weak self] network in
                guard let self, let unused = machine.unusedTransfer, unused == (id, use) else { return }
                runner(network).giveUp(id)
            }
        }
    }

    // MARK: - Questions

    /// Asks the owner what follows a head.
    func ask(_ question: Question, after head: ResponseHead) {
        guard let owner else { return }
        owner.exchangeLasts()
        switch question {
        case .redirect(let response, let request, let url):
            owner.exchangeWillFollow(
                response,
                to: request,
                decide: answer { exchange, answer in
                    switch answer {
                    case .refuse: exchange.take(head)
                    case .follow(let chosen):
                        exchange.goOn(.follow(response, to: chosen, from: url), afterAnswerTo: head)
                    }
                }
            )
        case .address(let response):
            owner.exchangeNeedsURL(
                after: response,
                decide: answer { exchange, url in
                    guard let url else { return exchange.take(head) }
                    return exchange.goOn(.move(to: url), afterAnswerTo: head)
                }
            )
        case .credential(let challenge, let offers):
            stopAsking = owner.exchangeNeedsCredential(
                for: challenge,
                decide: answer { exchange, answer in exchange.act(on: answer, to: offers, head) }
            )
        case .response(let response):
            let decide = answer { (exchange, _: Void) in exchange.machine.answer(.take) }
            owner.exchangeMayReceive(response) { decide(()) }
        }
    }

    /// - Returns: a closure that hears the answer, on any thread, and acts on it if it is still awaited.
    private func answer<Value: Sendable>(
        _ act: @escaping @Sendable (Exchange, Value) -> Machine.Effect
    ) -> @Sendable (Value) -> Void {
        let round = machine.ask()
        owner?.exchangeWaits(.answer, in: lap)
        return { value in
            NetworkThread.shared.perform { network in
                guard self.machine.isAsked(in: round) else { return }
                self.takePlace(network) { exchange, network in
                    guard exchange.machine.isAsked(in: round) else { return }
                    exchange.stopAsking = nil
                    exchange.perform(act(exchange, value), network)
                }
            }
        }
    }

    /// `next` follows, and what is left of the body is of no use.
    func goOn(_ next: ExchangeNext, afterAnswerTo head: ResponseHead) -> Machine.Effect {
        let left = UnusedBody.maximumLength - sideBody.count
        sideBody = Data()
        return machine.answer(.goOn(next, receiving: left > 0 && isWorthReceiving(head) ? left : nil))
    }

    /// The head is that of the response, with the rest of its body.
    func take(_ head: ResponseHead) -> Machine.Effect {
        tell(head)
        return askAboutResponse(after: head) ? .none : machine.answer(.take)
    }

    /// Called from within libcurl: the body waits if the owner is to be asked about the response.
    func askAboutResponse(_ decision: Machine.Decision, _ head: ResponseHead) -> Machine.Decision {
        guard case .take(let use) = decision, use != .drop, askAboutResponse(after: head) else {
            return decision
        }
        return .takeFirst(use)
    }

    private func askAboutResponse(after head: ResponseHead) -> Bool {
        guard configuration.asksAboutResponse, owner != nil,
            let response = route.hopURL.flatMap(head.response)
        else { return false }
        ask(.response(response), after: head)
        return true
    }

    /// The head is that of the response, which is an error when its body has come.
    func fail(_ error: any Error, after head: ResponseHead) -> Machine.Effect {
        tell(head)
        return machine.answer(.takeThen(.fail(error)))
    }
}
