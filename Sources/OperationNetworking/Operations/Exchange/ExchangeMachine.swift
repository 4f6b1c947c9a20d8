import Foundation
import FoundationNetworking

/// The state of an exchange, and the effect of each event on it. A pure value, without side effects.
///
/// | phase        | begin      | suspend    | cancel      | out of time | other events                 |
/// |--------------|------------|------------|-------------|-------------|------------------------------|
/// | idle         | deciding   | -          | idle, fails | idle, fails | -                            |
/// | opening      | -          | idle       | idle, fails | idle, fails | sink opened: deciding        |
/// | waiting      | -          | idle       | idle, fails | idle, fails | the wait ends: deciding      |
/// | deciding     | -          | idle       | idle, fails | idle, fails | any: the next step           |
/// | transferring | -          | idle 1     | idle, fails | idle, fails | its end: deciding, or asking |
/// | asking       | -          | idle       | idle, fails | idle, fails | answer: deciding             |
/// | finishing    | wanted     | not wanted | fails       | -           | sink ended: deciding         |
/// | stopping     | -          | -          | -           | -           | sink stopped: storing, ended |
/// | storing      | -          | -          | -           | -           | cookies stored: ended        |
/// | ended        | reported   | -          | reported    | -           | -                            |
///
/// 1: or held, if the received bytes cannot be resumed by another transfer. A held transfer stays
/// *transferring*; its end is kept until it resumes. If the sink requires the whole body again after its end,
/// that leads to *deciding*, or to *idle* if the exchange has been suspended in between and is not wanted.
///
/// *Deciding* lasts within one call on the network thread: nothing is awaited, and the exchange performs what
/// follows. Each wait and each question has a number, its round; events of an earlier round are ignored.
///
/// `Next` and `End` are passed through and never inspected.
struct ExchangeMachine<Next, End> {
    enum Phase {
        /// Not begun, or suspended.
        case idle
        /// The sink looks for bytes from an earlier process.
        case opening
        /// Waiting before a transfer, for a value or a delay.
        case waiting
        case deciding
        case transferring(TransferID)
        /// A transfer has ended, and the owner has not yet decided what follows its head.
        case asking
        /// The sink writes its last bytes.
        case finishing
        /// The end is decided; the sink still writes.
        case stopping(End)
        /// The end is decided; the jar is storing cookies.
        case storing(End)
        case ended(End)
    }

    /// What follows the running transfer, as decided by its head.
    private enum Following {
        /// Decided by the end of the body.
        case body
        /// Decided by the owner, which has not answered yet.
        case answer
        /// Decided, however the body ends.
        case next(Next)
    }

    /// A pause of a transfer that keeps its connection.
    private enum Hold: Hashable {
        case none
        case held(hasEnded: Bool)
        /// The transfer has resumed. Its end may have happened during the hold.
        case wasHeld
    }

    /// Whether the sink has been opened.
    private enum SinkOpening {
        case closed, opening, open
    }

    private(set) var phase = Phase.idle
    /// The use of the current body, or of the last one.
    private(set) var body = BodyUse.drop
    private(set) var round = 0
    private var following = Following.body
    private var hold = Hold.none
    private var sink = SinkOpening.closed
    /// Whether the owner wants the exchange to continue after the sink's end.
    private var isWanted = false

    var hasOpenSink: Bool { sink == .open }
    var hasClosedSink: Bool { sink == .closed }
    var wasHeld: Bool { hold == .wasHeld }

    private var isAsking: Bool {
        if case .answer = following { true } else { false }
    }

    private var isHeld: Bool {
        if case .held = hold { true } else { false }
    }
}

// MARK: - Commands

extension ExchangeMachine {
    mutating func begin() -> Effect {
        switch phase {
        case .idle:
            isWanted = true
            phase = .deciding
            return .start
        case .transferring(let id):
            guard case .held(let hasEnded) = hold else { return .none }
            isWanted = true
            hold = .wasHeld
            return hasEnded ? .processEnd : .resume(id)
        case .finishing:
            isWanted = true
            return .none
        case .opening, .waiting, .deciding, .asking, .stopping, .storing:
            return .none
        case .ended(let end):
            return .then(.report(end))
        }
    }

    /// Suspends the exchange because its owner is paused. `cannotResume` says that the received bytes could
    /// not be resumed after a stop.
    mutating func suspend(_ cannotResume: Bool) -> Effect {
        isWanted = false
        guard !isHeld else { return .none }
        if case .transferring(let id) = phase, case .body = following, body == .deliver, cannotResume {
            hold = .held(hasEnded: false)
            return .pause(id)
        }
        return stop().map { .stop($0) } ?? .none
    }

    mutating func cancel() -> Effect {
        switch phase {
        case .ended(let end):
            return .then(.report(end))
        case .stopping, .storing:
            // A cancel does not change an end that is decided.
            return .none
        case .finishing:
            return .stop(Stop())
        case .idle, .opening, .waiting, .deciding, .transferring, .asking:
            return .stop(stop() ?? Stop())
        }
    }

    /// - Returns: `nil` if the exchange is already finishing.
    mutating func stop() -> Stop? {
        var stop = Stop()
        switch phase {
        case .idle, .opening, .waiting, .deciding, .asking: break
        case .transferring(let id): stop.transfer = id
        case .finishing, .stopping, .storing, .ended: return nil
        }
        phase = .idle
        hold = .none
        return stop
    }

    /// Stops a held transfer whose owner has been released.
    mutating func drop() -> Stop? {
        isHeld ? stop() : nil
    }
}

// MARK: - Before a transfer

extension ExchangeMachine {
    /// Begins a wait for an answer or a delay.
    /// - Returns: the round of the wait.
    mutating func wait() -> Int {
        phase = .waiting
        round += 1
        return round
    }

    /// Whether the wait of that round is still awaited.
    func isWaiting(in round: Int) -> Bool {
        if case .waiting = phase { round == self.round } else { false }
    }

    /// - Returns: whether the wait of that round was still awaited.
    mutating func endWait(in round: Int) -> Bool {
        guard isWaiting(in: round) else { return false }
        phase = .deciding
        return true
    }

    /// Begins to open the sink.
    /// - Returns: whether it has to be opened: it may already be opening, since a pause does not stop that.
    mutating func openSink() -> Bool {
        phase = .opening
        guard sink == .closed else { return false }
        sink = .opening
        return true
    }

    /// Records that the sink is open or, if not `isOpen`, that no descriptor was free and it can be opened
    /// later.
    /// - Returns: whether the exchange was waiting for it.
    mutating func sinkOpened(_ isOpen: Bool = true) -> Bool {
        sink = isOpen ? .open : .closed
        guard case .opening = phase else { return false }
        phase = .deciding
        return true
    }

    /// Forgets the last response, because the next request is being made.
    mutating func forgetResponse() {
        following = .body
        body = .drop
        hold = .none
    }

    /// Starts a transfer.
    mutating func start(_ id: TransferID) {
        phase = .transferring(id)
    }
}

// MARK: - A transfer

extension ExchangeMachine {
    mutating func decide(_ decision: Decision) -> HeadAnswer {
        switch decision {
        case .take(let use):
            following = .body
            body = use
            return .receive
        case .takeFirst(let use):
            following = .answer
            body = use
            return .later
        case .ask(let limit):
            beginAsking(keeping: limit)
            return .receive
        case .askFirst(let limit):
            beginAsking(keeping: limit)
            return .later
        case .proceed(let next, let count):
            following = .next(next)
            body = count.map { .discard($0) } ?? .drop
            return count == nil ? .refuse : .receive
        }
    }

    private mutating func beginAsking(keeping limit: Int64) {
        following = .answer
        body = .bufferSeparately(limit)
    }

    /// Abandons the body; `next` follows.
    mutating func abandonBody(for next: Next) {
        following = .next(next)
    }

    func mustWait(_ sinkIsFull: Bool) -> Bool {
        isHeld || body.isForSink && sinkIsFull
    }

    mutating func take(_ piece: Span<UInt8>) -> BodyUse.Step {
        body.take(piece)
    }

    var isTransferring: Bool { transfer != nil }

    /// The running transfer.
    var transfer: TransferID? {
        if case .transferring(let id) = phase { id } else { nil }
    }

    /// The running transfer whose body does not go to the sink; `nil` if there is none, or the owner has not
    /// yet decided about the body.
    var unusedTransfer: (id: TransferID, use: UnusedBody)? {
        guard case .transferring(let id) = phase, let use = body.unused else { return nil }
        return isAsking ? nil : (id, use)
    }

    /// Records that the sink has room again or, if not `takesMore`, accepts no more bytes.
    mutating func sinkChanged(_ id: TransferID, takesMore: Bool) -> Effect {
        guard case .transferring(id) = phase else { return .none }
        guard !takesMore else { return .resumeReceiving(id) }
        guard !isHeld else { return stop().map { .stop($0) } ?? .none }
        phase = .deciding
        return .restart(id)
    }

    mutating func transferEnded(_ id: TransferID) -> Step {
        guard case .transferring(id) = phase else { return .none }
        guard !isHeld else {
            hold = .held(hasEnded: true)
            return .keepEnd
        }
        switch following {
        case .answer:
            phase = .asking
            return .keepEnd
        case .next(let next):
            phase = .deciding
            return .proceed(next)
        case .body:
            phase = .deciding
            return .judgeEnd
        }
    }
}

// MARK: - Answers

extension ExchangeMachine {
    /// Whether the answer to that round's question is still awaited.
    func isAsked(in round: Int) -> Bool {
        guard round == self.round else { return false }
        switch phase {
        case .asking: return true
        case .transferring: return isAsking
        case .idle, .opening, .waiting, .deciding, .finishing, .stopping, .storing, .ended: return false
        }
    }

    /// Begins a question to the owner about a head.
    /// - Returns: the round of the question.
    mutating func ask() -> Int {
        round += 1
        return round
    }

    mutating func answer(_ answer: Answer) -> Effect {
        switch phase {
        case .transferring(let id):
            switch answer {
            case .proceed(let next, let count):
                following = .next(next)
                body = count.map { .discard($0) } ?? .drop
                return count == nil ? .cancelReceiving(id) : .receive(id)
            case .take:
                following = .body
                return .receive(id)
            case .takeThen(let next):
                following = .next(next)
                return .receive(id)
            }
        case .asking:
            phase = .deciding
            switch answer {
            case .proceed(let next, _):
                body = .drop
                return .then(.proceed(next))
            case .take:
                return .then(.judgeEnd)
            case .takeThen(let next):
                return .then(.proceed(next))
            }
        case .idle, .opening, .waiting, .deciding, .finishing, .stopping, .storing, .ended:
            return .none
        }
    }
}

// MARK: - The end

extension ExchangeMachine {
    /// - Returns: whether the sink has to finish. If not, the response's body was buffered separately, and the
    ///   exchange ends without the sink.
    mutating func finish() -> Bool {
        guard body.unused != .explanation else { return false }
        phase = .finishing
        return true
    }

    /// - Returns: whether the sink's end was awaited: the exchange may have been cancelled in between.
    mutating func sinkEnded() -> Bool {
        guard case .finishing = phase else { return false }
        phase = .deciding
        return true
    }

    /// Requests an unusable body again: now, or when a suspended exchange resumes.
    mutating func startOver() -> Step {
        if !isWanted { phase = .idle }
        return isWanted ? .startAgain : .none
    }

    /// Whether the end is final.
    var isDecided: Bool {
        switch phase {
        case .stopping, .storing, .ended: true
        case .idle, .opening, .waiting, .deciding, .transferring, .asking, .finishing: false
        }
    }

    /// Decides the end, unless there is an earlier one.
    /// - Returns: whether the sink has to stop.
    mutating func end(with end: End) -> Bool {
        guard !isDecided else { return false }
        phase = .stopping(end)
        return true
    }

    /// - Returns: the end that waited for it.
    func sinkStopped() -> End? {
        if case .stopping(let end) = phase { end } else { nil }
    }

    /// Ends the exchange, whose sink no longer writes. The end is not reported until the cookies are stored,
    /// so that a caller that waits for it sees them.
    /// - Returns: the end to report now.
    mutating func conclude(_ end: End, cookiesAreStored areStored: Bool) -> End? {
        phase = areStored ? .ended(end) : .storing(end)
        return areStored ? end : nil
    }

    /// - Returns: the end that waited for it.
    mutating func cookiesStored() -> End? {
        guard case .storing(let end) = phase else { return nil }
        phase = .ended(end)
        return end
    }
}

/// The step that follows a response, once its transfer has ended.
enum ExchangeNext {
    /// Repeat the request.
    case again
    /// Make another attempt after this number of seconds.
    case retry(after: TimeInterval)
    /// Send the request again with this proof, which answers the head.
    case authenticate(Authentication.Proof, ResponseHead)
    /// Fetch a new token, and send the request again with it.
    case renew(TokenSource.Token, TokenSource, ResponseHead)
    /// Follow the redirect.
    case follow(HTTPURLResponse, to: URLRequest, from: URL)
    /// Request the file from another address.
    case move(to: URL)
    /// Finish: the whole body is already held (S23).
    case finish
    case fail(any Error)
}
