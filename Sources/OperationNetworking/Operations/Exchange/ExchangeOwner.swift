import Foundation
import FoundationNetworking

/// The owner of an exchange: its operation. Called on the network thread, or, for a response that a layer has
/// known, on the thread that has asked for it; nothing there may wait.
protocol ExchangeOwner: AnyObject, Sendable {
    /// The exchange has begun, and does not end at once.
    func exchangeLasts()

    func exchangeDidReceive(_ response: ReceivedResponse)
    /// Only if the configuration asks for pieces. `done` is to be called once, on any thread, when the piece
    /// is out of the way.
    func exchangeDidReceive(_ piece: Data, done: @escaping @Sendable () -> Void)

    /// A body begins to come, after `offset` bytes that are there already. -1: its length is unknown.
    func exchangeWillReceiveBody(at offset: Int64, length: Int64)
    func exchangeDidDownload(_ report: ProgressReport)
    func exchangeDidUpload(_ report: ProgressReport)

    /// Whether ``exchangeWillFollow(_:to:decide:)`` is to be asked; the policy decides otherwise.
    var exchangeAnswersRedirects: Bool { get }

    /// The server sends the reader elsewhere. `decide` is to be called once, on any thread.
    func exchangeWillFollow(
        _ redirect: HTTPURLResponse,
        to request: URLRequest,
        decide: @escaping @Sendable (RedirectAnswer) -> Void
    )

    /// The redirect is followed: its request has begun.
    func exchangeDidFollow(_ redirect: HTTPURLResponse, to request: URLRequest)

    /// Bytes that were held are kept: the body goes on after `offset` of them.
    func exchangeDidResume(at offset: Int64)

    /// Bytes that were there already are thrown away.
    func exchangeWillStartOver(because reason: RestartReason)

    /// Only if the configuration says so: there is nothing at the address any more. `decide` is to be called
    /// once, on any thread, with another address, or `nil` to take the response for what it is.
    func exchangeNeedsURL(after response: HTTPURLResponse, decide: @escaping @Sendable (URL?) -> Void)

    /// Only if the configuration says so: the body of the response waits. `decide` is to be called once, on
    /// any thread, to receive it; never to have none of it.
    func exchangeMayReceive(_ response: HTTPURLResponse, decide: @escaping @Sendable () -> Void)

    /// Whether ``exchangeNeedsCredential(for:decide:)`` is to be asked.
    var exchangeAnswersChallenges: Bool { get }

    /// A server asks for credentials. `decide` is to be called once, on any thread, with what to do about
    /// it.
    /// - Returns: a closure that tells the challenge closure's task that the answer is not awaited any more.
    func exchangeNeedsCredential(
        for challenge: AuthenticationChallenge,
        decide: @escaping @Sendable (AuthenticationChallenge.Answer) -> Void
    ) -> @Sendable () -> Void

    /// A request is about to be sent. `decide` is to be called once, on any thread, with what the adapters
    /// make of it.
    /// - Returns: a closure that tells them that the answer is not awaited any more.
    func exchangeAdapts(
        _ request: URLRequest,
        number: Int,
        by adapters: [any RequestAdapter],
        decide: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) -> @Sendable () -> Void

    /// An attempt failed, or has to wait; the next one begins after a delay.
    func exchangeWillRetry(_ retry: Retry)

    /// The exchange waits, and needs no place in a queue meanwhile; `lap` is that of its last beginning.
    func exchangeWaits(_ wait: ExchangeWait, in lap: Int)

    /// The wait is over.
    /// - Returns: whether the exchange goes on now. If not, `goOn` is called, on any thread and under a lock,
    ///   when there is a place, unless the exchange is suspended or cancelled before.
    func exchangeMayGoOn(_ goOn: @escaping @Sendable () -> Void) -> Bool

    func exchangeDidEnd(_ end: ExchangeEnd)
}

/// What an exchange waits for, and its owner lends its place for.
enum ExchangeWait: Hashable, Sendable {
    /// Code of the app.
    case answer
    /// A time, because of a host. Others with requests to it would wait as well.
    case time(HostWaits.Host?)

    /// The hosts whose requests do not get the place; `nil`: all requests get it.
    func hosts(with own: HostWaits.Host) -> Set<HostWaits.Host>? {
        switch self {
        case .answer: nil
        case .time(let host): host.map { [own, $0] } ?? [own]
        }
    }
}

/// The answer of an owner to a redirect.
enum RedirectAnswer: Sendable {
    /// The owner wants to go on with this request.
    case follow(URLRequest)
    /// The redirect is the response.
    case refuse
}

/// The work behind one operation, from its request to an end: ``Exchange``, or what several exchanges are put
/// together by.
///
/// Made on any thread, under the operation's lock; everything else happens on the network thread. While a
/// transfer runs it keeps its owner.
protocol Exchanging: AnyObject, Sendable {
    /// Begins, or goes on after ``suspend(_:)``. An end that came meanwhile is told again. `lap` is told to
    /// the owner with each wait.
    func begin(_ network: NetworkContext, for owner: any ExchangeOwner, in lap: Int)

    /// Stops, or holds what could not go on; what came stays. The owner hears nothing more until
    /// ``begin(_:for:)``.
    func suspend(_ network: NetworkContext)

    /// Stops for good. The owner hears of the end, of an earlier one if there was one.
    func cancel(_ network: NetworkContext, for owner: any ExchangeOwner)

    /// Lets go of what is held: the operation that suspended it is gone.
    func drop(_ network: NetworkContext)

    /// The body so far, if it is in memory, and another exchange can ask for the rest of it.
    func bodySoFar(_ network: NetworkContext) -> EarlierBody?
}
