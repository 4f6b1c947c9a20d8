import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// The operation of a data task whose session wants to hear of the response, or every piece of its body.
final class SessionDataOperation: HTTPRequestOperation, @unchecked Sendable {
    // @unchecked: what changes lives in `closures`.

    /// Answers where the body of a response goes, once, or never.
    typealias Judge = @Sendable (HTTPURLResponse, @escaping @Sendable (BodyPlace) -> Void) -> Void

    /// Takes a piece, and calls `done` when the next one may come.
    typealias Receiver = @Sendable (Data, _ done: @escaping @Sendable () -> Void) -> Void

    private struct Closures: Sendable {
        var receiver: Receiver?
        var judge: Judge?
        var isDownload = false
    }

    private let closures = Locked(Closures())

    /// Called on the completion queue, for each piece.
    func setReceiver(_ receiver: @escaping Receiver) {
        closures.change { $0.receiver = receiver }
    }

    /// Called on the network thread; the body waits for the answer.
    func setJudge(_ judge: @escaping Judge) {
        closures.change { $0.judge = judge }
    }

    /// The task is a download from now on: the session's serializer is not asked, and any successful response
    /// is saved.
    func becomeDownload() {
        closures.withLock { $0.isDownload = true }
    }

    override func evaluate(_ end: ExchangeEnd) -> (object: (any Sendable)?, error: (any Error)?) {
        guard closures.withLock({ $0.isDownload }), end.error == nil else { return super.evaluate(end) }
        do {
            try HTTPResponseSerializer().validate(response, data: end.data)
            return (nil, nil)
        } catch {
            return (nil, error)
        }
    }

    override func exchangeConfiguration(_ state: OperationState) -> ExchangeConfiguration {
        var configuration = super.exchangeConfiguration(state)
        let closures = closures.withLock { $0 }
        configuration.givesPieces = closures.receiver != nil
        configuration.asksForPlace = closures.judge != nil
        return configuration
    }

    override func place(of response: HTTPURLResponse, decide: @escaping @Sendable (BodyPlace) -> Void) {
        guard let judge = closures.withLock({ $0.judge }) else { return decide(.usual) }
        judge(response, decide)
    }

    override func receive(_ piece: Data, done: @escaping @Sendable () -> Void) {
        guard let receiver = closures.withLock({ $0.receiver }) else { return done() }
        receiver(piece, done)
    }

    override func didFinish() {
        let released = closures.withLock { closures in
            defer { closures = Closures() }
            return closures
        }
        withExtendedLifetime(released) {}
    }
}
