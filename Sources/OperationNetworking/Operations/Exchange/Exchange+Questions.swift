import Dispatch
import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

// Responses that lead to another request, at once or by the owner's decision, and their bodies.
extension Exchange {
    /// A decision that the owner has to make.
    enum Question {
        case redirect(HTTPURLResponse, to: URLRequest, from: URL)
        case address(HTTPURLResponse)
        case credential(AuthenticationChallenge, [AuthenticationOffer])
        case response(HTTPURLResponse)
    }

    // MARK: - Without a question

    /// Continues with `next` and discards the body.
    func proceed(_ next: ExchangeNext, after head: ResponseHead) -> Machine.Decision {
        .proceed(next, receiving: isWorthReceiving(head) ? UnusedBody.maximumLength : nil)
    }

    private func isWorthReceiving(_ head: ResponseHead) -> Bool {
        guard let length = try? MessageLength(method: route.method, head: head) else { return false }
        return UnusedBody.isWorthReceiving(length)
    }

    /// Stops the transfer of an unused body after a while. If the body of a success would not go to memory,
    /// the body of any other response is only an explanation: the status is known, so a truncated explanation
    /// is enough.
    func limitUnusedBody() {
        guard let (id, use) = machine.unusedTransfer, use == .discarded || configuration.bodyExplains else {
            return
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + use.timeLimit) { [weak self] in
            NetworkThread.shared.perform { [weak self] network in
                guard let self, let unused = machine.unusedTransfer, unused == (id, use) else { return }
                runner(network).cancelReceiving(id)
            }
        }
    }

    // MARK: - Questions

    /// Asks the owner how to continue after a head.
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
                        exchange.proceed(.follow(response, to: chosen, from: url), afterAnswerTo: head)
                    }
                }
            )
        case .address(let response):
            owner.exchangeNeedsURL(
                after: response,
                decide: answer { exchange, url in
                    guard let url else { return exchange.take(head) }
                    return exchange.proceed(.move(to: url), afterAnswerTo: head)
                }
            )
        case .credential(let challenge, let offers):
            cancelPending = owner.exchangeNeedsCredential(
                for: challenge,
                decide: answer { exchange, answer in exchange.act(on: answer, to: offers, head) }
            )
        case .response(let response):
            let decide = answer { (exchange, _: Void) in exchange.machine.answer(.take) }
            owner.exchangeMayReceive(response) { decide(()) }
        }
    }

    /// - Returns: a closure that takes the answer, on any thread, and acts on it if it is still awaited.
    private func answer<Value: Sendable>(
        _ act: @escaping @Sendable (Exchange, Value) -> Machine.Effect
    ) -> @Sendable (Value) -> Void {
        let round = machine.ask()
        owner?.exchangeWaits(.answer, in: lap)
        return { value in
            NetworkThread.shared.perform { network in
                guard self.machine.isAsked(in: round) else { return }
                self.takeSlot(network) { exchange, network in
                    guard exchange.machine.isAsked(in: round) else { return }
                    exchange.cancelPending = nil
                    exchange.perform(act(exchange, value), network)
                }
            }
        }
    }

    /// Continues with `next` and discards the rest of the body.
    func proceed(_ next: ExchangeNext, afterAnswerTo head: ResponseHead) -> Machine.Effect {
        let left = UnusedBody.maximumLength - sideBody.count
        sideBody = Data()
        return machine.answer(.proceed(next, receiving: left > 0 && isWorthReceiving(head) ? left : nil))
    }

    /// Makes the head and the rest of its body the response.
    func take(_ head: ResponseHead) -> Machine.Effect {
        report(head)
        return askAboutResponse(after: head) ? .none : machine.answer(.take)
    }

    /// Holds the body back if the owner has to decide about the response. Called inside a libcurl callback.
    func askAboutResponse(_ decision: Machine.Decision, _ head: ResponseHead) -> Machine.Decision {
        guard configuration.asksAboutResponse, case .take(let use) = decision, use != .drop,
            askAboutResponse(after: head)
        else { return decision }
        return .takeFirst(use)
    }

    private func askAboutResponse(after head: ResponseHead) -> Bool {
        guard configuration.asksAboutResponse, owner != nil,
            let response = route.hopURL.flatMap(head.response)
        else { return false }
        ask(.response(response), after: head)
        return true
    }

    /// Makes the head the response, which fails with `error` once its body has arrived.
    func fail(_ error: any Error, after head: ResponseHead) -> Machine.Effect {
        report(head)
        return machine.answer(.takeThen(.fail(error)))
    }
}
