import Foundation
import FoundationNetworking

/// The state of an exchange, and the effect of each event on it: a value that decides and does nothing.
///
/// | phase        | begin      | suspend    | cancel      | out of time | other events                 |
/// |--------------|------------|------------|-------------|-------------|------------------------------|
/// | idle         | deciding   | -          | idle, fails | idle, fails | -                            |
/// | opening      | -          | idle       | idle, fails | idle, fails | sink opened: deciding        |
/// | waiting      | -          | idle       | idle, fails | idle, fails | the wait is over: deciding   |
/// | deciding     | -          | idle       | idle, fails | idle, fails | any: the next step           |
/// | transferring | -          | idle 1     | idle, fails | idle, fails | its end: deciding, or asking |
/// | asking       | -          | idle       | idle, fails | idle, fails | answer: deciding             |
/// | finishing    | wanted     | not wanted | fails       | -           | sink ended: deciding         |
/// | stopping     | -          | -          | -           | -           | sink stopped: storing, ended |
/// | storing      | -          | -          | -           | -           | cookies stored: ended        |
/// | ended        | told again | -          | told again  | -           | -                            |
///
/// 1: or held, when what came cannot be continued by another transfer. One that is held stays *transferring*;
/// its end is kept until it goes on. A sink that wants the whole again after its end leads to *deciding*, or
/// to *idle* when the exchange was suspended meanwhile: then it is not wanted.
///
/// *Deciding* lasts within one call on the network thread: nothing is awaited, and the exchange performs what
/// follows. Each wait and each question has a number, its round; what is heard of an earlier one is too late.
///
/// `Next` and `End` are carried, and never looked at.
struct ExchangeMachine<Next, End> {
    enum Phase {
        /// Not begun, or suspended.
        case idle
        /// The sink looks what it has from an earlier process.
        case opening
        /// Before a transfer, until something is known or a time has come.
        case waiting
        case deciding
        case transferring(TransferID)
        /// A transfer is over, and the owner has not said what follows its head.
        case asking
        /// The sink writes its last bytes.
        case finishing
        /// The end is decided; the sink still writes.
        case stopping(End)
        /// The end is decided; cookies are on their way to their jar.
        case storing(End)
        case ended(End)
    }

    /// The consequence of the transfer that runs, as its head decided.
    private enum Following {
        /// The end of the body decides.
        case body
        /// The owner has been asked, and has not answered yet.
        case answer
        /// Decided, however the body ends.
        case next(Next)
    }

    /// A pause of a transfer that keeps its connection.
    private enum Hold: Hashable {
        case none
        case held(hasEnded: Bool)
        /// The transfer goes on. What ends it may have happened meanwhile.
        case wasHeld
    }

    /// Whether the sink has said what it has.
    private enum SinkOpening {
        case closed, opening, open
    }

    private(set) var phase = Phase.idle
    /// The use of the body that comes, or came last.
    private(set) var body = BodyUse.drop
    private(set) var round = 0
    private var following = Following.body
    private var hold = Hold.none
    private var sink = SinkOpening.closed
    /// Whether the owner wants the exchange to go on after the sink's end.
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
            return hasEnded ? .hearEnd : .resume(id)
        case .finishing:
            isWanted = true
            return .none
        case .opening, .waiting, .deciding, .asking, .stopping, .storing:
            return .none
        case .ended(let end):
            return .then(.tell(end))
        }
    }

    /// The owner is paused. `cannotGoOn`: stopping the transfer would be the end, since what it brought
    /// cannot be continued.
    mutating func suspend(_ cannotGoOn: Bool) -> Effect {
        isWanted = false
        guard !isHeld else { return .none }
        if case .transferring(let id) = phase, case .body = following, body == .deliver, cannotGoOn {
            hold = .held(hasEnded: false)
            return .pause(id)
        }
        return stop().map { .stop($0) } ?? .none
    }

    mutating func cancel() -> Effect {
        switch phase {
        case .ended(let end):
            return .then(.tell(end))
        case .stopping, .storing:
            // A cancel has nothing to add to an end that is decided.
            return .none
        case .finishing:
            return .stop(Stop())
        case .idle, .opening, .waiting, .deciding, .transferring, .asking:
            return .stop(stop() ?? Stop())
        }
    }

    /// - Returns: `nil`: an end is on its way, and as good as any.
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

    /// The owner that suspended the exchange is gone.
    mutating func drop() -> Stop? {
        isHeld ? stop() : nil
    }
}

// MARK: - Before a transfer

extension ExchangeMachine {
    /// An answer has to be known, or a time has to come.
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
    mutating func goesOn(in round: Int) -> Bool {
        guard isWaiting(in: round) else { return false }
        phase = .deciding
        return true
    }

    /// The sink has to say what it has.
    /// - Returns: whether it is to be opened: a pause does not stop an opening.
    mutating func openSink() -> Bool {
        phase = .opening
        guard sink == .closed else { return false }
        sink = .opening
        return true
    }

    /// The sink is open; or (not `isOpen`) found no descriptor, and can be opened later.
    /// - Returns: whether the exchange has waited for it.
    mutating func sinkOpened(_ isOpen: Bool = true) -> Bool {
        sink = isOpen ? .open : .closed
        guard case .opening = phase else { return false }
        phase = .deciding
        return true
    }

    /// The next request is made: nothing of the last response counts any more.
    mutating func forgetResponse() {
        following = .body
        body = .drop
        hold = .none
    }

    /// The transfer's request is known.
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
        case .goOn(let next, let count):
            following = .next(next)
            body = count.map { .discard($0) } ?? .drop
            return count == nil ? .refuse : .receive
        }
    }

    private mutating func beginAsking(keeping limit: Int64) {
        following = .answer
        body = .keepAside(limit)
    }

    /// The body is no use, and `next` follows.
    mutating func giveUp(for next: Next) {
        following = .next(next)
    }

    func mustWait(_ sinkIsFull: Bool) -> Bool {
        isHeld || body.isForSink && sinkIsFull
    }

    mutating func take(_ piece: Span<UInt8>) -> BodyUse.Step {
        body.take(piece)
    }

    var isTransferring: Bool { transfer != nil }

    /// The transfer that runs.
    var transfer: TransferID? {
        if case .transferring(let id) = phase { id } else { nil }
    }

    /// The transfer that runs for a body that no sink gets; `nil`: there is none, or the owner has not said
    /// yet what its body is for.
    var unusedTransfer: (id: TransferID, use: UnusedBody)? {
        guard case .transferring(let id) = phase, let use = body.unused else { return nil }
        return isAsking ? nil : (id, use)
    }

    /// The sink has room again, or (not `takesMore`) does not take what is coming.
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
            return .goOn(next)
        case .body:
            phase = .deciding
            return .judgeEnd
        }
    }
}

// MARK: - Answers

extension ExchangeMachine {
    /// Whether an answer to what was asked in that round is still awaited.
    func isAsked(in round: Int) -> Bool {
        guard round == self.round else { return false }
        switch phase {
        case .asking: return true
        case .transferring: return isAsking
        case .idle, .opening, .waiting, .deciding, .finishing, .stopping, .storing, .ended: return false
        }
    }

    /// The owner is asked about a head, or asked something else about it.
    /// - Returns: the round of the question.
    mutating func ask() -> Int {
        round += 1
        return round
    }

    mutating func answer(_ answer: Answer) -> Effect {
        switch phase {
        case .transferring(let id):
            switch answer {
            case .goOn(let next, let count):
                following = .next(next)
                body = count.map { .discard($0) } ?? .drop
                return count == nil ? .giveUp(id) : .receive(id)
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
            case .goOn(let next, _):
                body = .drop
                return .then(.goOn(next))
            case .take:
                return .then(.judgeEnd)
            case .takeThen(let next):
                return .then(.goOn(next))
            }
        case .idle, .opening, .waiting, .deciding, .finishing, .stopping, .storing, .ended:
            return .none
        }
    }
}

// MARK: - The end

extension ExchangeMachine {
    /// - Returns: whether the sink has to end; otherwise the response's body was kept aside, and the exchange
    ///   ends without.
    mutating func finish() -> Bool {
        guard body.unused != .explanation else { return false }
        phase = .finishing
        return true
    }

    /// - Returns: whether that was awaited: the exchange may have been cancelled meanwhile.
    mutating func sinkEnded() -> Bool {
        guard case .finishing = phase else { return false }
        phase = .deciding
        return true
    }

    /// The body was no use, and has to come again: now, or when a suspended exchange begins again.
    mutating func startOver() -> Step {
        if !isWanted { phase = .idle }
        return isWanted ? .startAgain : .none
    }

    /// Whether nothing changes the end any more.
    var isDecided: Bool {
        switch phase {
        case .stopping, .storing, .ended: true
        case .idle, .opening, .waiting, .deciding, .transferring, .asking, .finishing: false
        }
    }

    /// The end is decided, unless there is an earlier one.
    /// - Returns: whether the sink is to stop for it.
    mutating func end(with end: End) -> Bool {
        guard !isDecided else { return false }
        phase = .stopping(end)
        return true
    }

    /// - Returns: the end that waited for it.
    func sinkStopped() -> End? {
        if case .stopping(let end) = phase { end } else { nil }
    }

    /// Nothing is written any more. While cookies are on their way to their jar (not `areStored`) the end is
    /// not told: a caller that waits for it sees the cookies that it brought.
    /// - Returns: the end to tell now.
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

/// The step that follows a response, once the transfer that brought it has ended.
enum ExchangeNext {
    /// The same is asked again.
    case again
    /// Another attempt, after this number of seconds.
    case retry(after: TimeInterval)
    /// The request is sent again with this proof, which answers the head.
    case authenticate(Authentication.Proof, ResponseHead)
    /// The token is fetched anew, and the request sent again with it.
    case renew(TokenSource.Token, TokenSource, ResponseHead)
    /// The redirect is followed.
    case follow(HTTPURLResponse, to: URLRequest, from: URL)
    /// The file has moved to another address.
    case move(to: URL)
    /// The whole is held already (S23).
    case finish
    case fail(any Error)
}
