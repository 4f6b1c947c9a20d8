import Foundation
import FoundationNetworking

/// The owner of an exchange: its operation. Called on the network thread or, for a response from a layer, on
/// the thread that requested it; neither may block.
protocol ExchangeOwner: AnyObject, Sendable {
    /// The exchange has begun and does not end at once.
    func exchangeLasts()

    func exchangeDidReceive(_ response: ReceivedResponse)
    /// A piece of the body arrived. Only called if the configuration requests pieces. Call `done` once, on
    /// any thread, when the piece has been processed.
    func exchangeDidReceive(_ piece: Data, done: @escaping @Sendable () -> Void)

    /// A body begins, after `offset` bytes that are already held. A `length` of -1 means unknown.
    func exchangeWillReceiveBody(at offset: Int64, length: Int64)
    func exchangeDidDownload(_ report: ProgressReport)
    func exchangeDidUpload(_ report: ProgressReport)

    /// Whether to call ``exchangeWillFollow(_:to:decide:)``; otherwise the policy decides.
    var exchangeAnswersRedirects: Bool { get }

    /// A redirect arrived. Call `decide` once, on any thread.
    func exchangeWillFollow(
        _ redirect: HTTPURLResponse,
        to request: URLRequest,
        decide: @escaping @Sendable (RedirectAnswer) -> Void
    )

    /// The redirect is being followed: its request has begun.
    func exchangeDidFollow(_ redirect: HTTPURLResponse, to request: URLRequest)

    /// The held bytes are kept: the body continues after `offset` of them.
    func exchangeDidResume(at offset: Int64)

    /// The held bytes are discarded.
    func exchangeWillStartOver(because reason: RestartReason)

    /// The address is no longer valid. Only called if the configuration says so. Call `decide` once, on any
    /// thread, with another address, or with `nil` to accept the response.
    func exchangeNeedsURL(after response: HTTPURLResponse, decide: @escaping @Sendable (URL?) -> Void)

    /// The body of the response is held. Only called if the configuration says so. Call `decide` once, on any
    /// thread, to receive the body.
    func exchangeMayReceive(_ response: HTTPURLResponse, decide: @escaping @Sendable () -> Void)

    /// Whether to call ``exchangeNeedsCredential(for:decide:)``.
    var exchangeAnswersChallenges: Bool { get }

    /// A server requests credentials. Call `decide` once, on any thread, with the answer.
    /// - Returns: a closure that cancels the challenge closure's task, whose answer is no longer awaited.
    func exchangeNeedsCredential(
        for challenge: AuthenticationChallenge,
        decide: @escaping @Sendable (AuthenticationChallenge.Answer) -> Void
    ) -> @Sendable () -> Void

    /// A request is about to be sent. Call `decide` once, on any thread, with the adapted request.
    /// - Returns: a closure that cancels the adapters, whose answer is no longer awaited.
    func exchangeAdapts(
        _ request: URLRequest,
        number: Int,
        by adapters: [any RequestAdapter],
        decide: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) -> @Sendable () -> Void

    /// An attempt failed, or has to wait; the next one begins after a delay.
    func exchangeWillRetry(_ retry: Retry)

    /// The exchange began to wait, and needs no slot in a queue until the wait ends. `lap` is the one of its
    /// last ``Exchange/begin(_:for:in:)``.
    func exchangeWaits(_ wait: ExchangeWait, in lap: Int)

    /// The wait has ended. `lap` is the one of the last ``Exchange/begin(_:for:in:)``.
    /// - Returns: whether the exchange continues now. If not, `resume` is called, on any thread and under a
    ///   lock, when there is a slot, unless the exchange is suspended or cancelled before.
    func exchangeMayContinue(in lap: Int, _ resume: @escaping @Sendable () -> Void) -> Bool

    func exchangeDidEnd(_ end: ExchangeEnd)
}

/// The reason why an exchange waits and its owner lends its slot.
enum ExchangeWait: Hashable, Sendable {
    /// Code of the app.
    case answer
    /// A delay because of a host. Other requests to it would wait as well.
    case time(HostWaits.Host?)

    /// The hosts whose requests cannot use the slot; `nil` if all requests can.
    func hosts(with own: HostWaits.Host) -> Set<HostWaits.Host>? {
        switch self {
        case .answer: nil
        case .time(let host): host.map { [own, $0] } ?? [own]
        }
    }
}

/// The answer of an owner to a redirect.
enum RedirectAnswer: Sendable {
    /// Follow with this request.
    case follow(URLRequest)
    /// Use the redirect as the response.
    case refuse
}
