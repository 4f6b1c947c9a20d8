@testable import OperationNetworking

/// An ``ExchangeMachine`` in one of its places, and events that are written as texts: `effect > place`.
struct MachineScene {
    typealias Machine = ExchangeMachine<String, String>

    /// Each phase, and the parts of *transferring* that answer differently.
    enum Place: CaseIterable, Sendable {
        case idle
        /// The sink is being opened.
        case opening
        case waiting
        case deciding
        /// With a body for the sink.
        case receiving
        /// The owner is asked about the head while the body comes.
        case questioning
        /// Another step follows, whatever comes of the body.
        case passing
        /// Paused with its connection.
        case held
        /// The same, and the transfer is over.
        case heldToEnd
        /// The exchange goes on after such a pause.
        case takenUp
        /// The owner is asked about a head whose transfer is over.
        case asking
        case finishing
        /// Suspended while the sink writes its last bytes.
        case finishingUnwanted
        case stopping
        case storing
        case ended
    }

    enum Event: CaseIterable, Sendable {
        case begin, suspend, suspendForGood, cancel, timeIsOver, drop
        case waitIsOver, earlierWaitIsOver
        case sinkOpened, sinkFoundNoDescriptor
        case sinkHasRoom, sinkFails, otherSinkHasRoom, otherSinkFails
        case transferEnds, otherTransferEnds
        case answerGoOn, answerGoOnWithBody, answerTake, answerTakeThenFail, earlierAnswer
        case sinkEnded, sinkWantsWhole, sinkStopped, cookiesStored
        case fail
    }

    static let id = TransferID.next()
    static let other = TransferID.next()

    var machine = Machine()
    /// That of the last question, or wait.
    private var round = 0

    init(_ place: Place) {
        guard place != .idle else { return }
        _ = machine.begin()
        switch place {
        case .idle, .deciding:
            break
        case .opening:
            _ = machine.openSink()
        case .waiting:
            _ = machine.wait()
            round = machine.wait()
        case .receiving, .questioning, .passing, .held, .heldToEnd, .takenUp, .asking:
            transfer(place)
        case .finishing, .finishingUnwanted:
            _ = machine.finish()
            if place == .finishingUnwanted { _ = machine.suspend(false) }
        case .stopping:
            _ = machine.end(with: "the end")
        case .storing, .ended:
            _ = machine.conclude("the end", cookiesAreStored: place == .ended)
        }
    }

    private mutating func transfer(_ place: Place) {
        machine.start(Self.id)
        switch place {
        case .questioning, .asking:
            _ = machine.ask()
            round = machine.ask()
            _ = machine.decide(.ask(keeping: 10))
            if place == .asking { _ = machine.transferEnded(Self.id) }
        case .passing:
            _ = machine.decide(.proceed("again", receiving: 10))
        default:
            _ = machine.decide(.take(.deliver))
            guard place != .receiving else { return }
            _ = machine.suspend(true)
            if place == .heldToEnd { _ = machine.transferEnded(Self.id) }
            if place == .takenUp { _ = machine.begin() }
        }
    }

    /// Passes the event to the machine.
    /// - Returns: the effect, and the phase that follows.
    mutating func after(_ event: Event) -> String {
        "\(effect(of: event)) > \(phase)"
    }

    private mutating func effect(of event: Event) -> String {
        switch event {
        case .begin: text(machine.begin())
        case .suspend: text(machine.suspend(false))
        case .suspendForGood: text(machine.suspend(true))
        case .cancel: text(machine.cancel())
        case .timeIsOver: machine.stop().map { text($0) } ?? "-"
        case .drop: machine.drop().map { text($0) } ?? "-"
        case .waitIsOver: machine.endWait(in: round) ? "continues" : "-"
        case .earlierWaitIsOver: machine.endWait(in: round - 1) ? "continues" : "-"
        case .sinkOpened: machine.sinkOpened() ? "continues" : "-"
        case .sinkFoundNoDescriptor: machine.sinkOpened(false) ? "continues" : "-"
        case .sinkHasRoom: text(machine.sinkChanged(Self.id, takesMore: true))
        case .sinkFails: text(machine.sinkChanged(Self.id, takesMore: false))
        case .otherSinkHasRoom: text(machine.sinkChanged(Self.other, takesMore: true))
        case .otherSinkFails: text(machine.sinkChanged(Self.other, takesMore: false))
        case .transferEnds: text(machine.transferEnded(Self.id))
        case .otherTransferEnds: text(machine.transferEnded(Self.other))
        case .answerGoOn: answer(.proceed("next", receiving: nil), in: round)
        case .answerGoOnWithBody: answer(.proceed("next", receiving: 10), in: round)
        case .answerTake: answer(.take, in: round)
        case .answerTakeThenFail: answer(.takeThen("fail"), in: round)
        case .earlierAnswer: answer(.take, in: round - 1)
        case .sinkEnded: machine.sinkEnded() ? "continues" : "-"
        case .sinkWantsWhole: machine.sinkEnded() ? text(machine.startOver()) : "-"
        case .sinkStopped: machine.sinkStopped().map { "concludes \($0)" } ?? "-"
        case .cookiesStored: machine.cookiesStored().map { "reports \($0)" } ?? "-"
        case .fail: machine.end(with: "failure") ? "stops the sink" : "-"
        }
    }

    private mutating func answer(_ answer: Machine.Answer, in round: Int) -> String {
        machine.isAsked(in: round) ? text(machine.answer(answer)) : "-"
    }

    // MARK: - Texts

    var phase: String {
        switch machine.phase {
        case .idle: "idle"
        case .opening: "opening"
        case .waiting: "waiting"
        case .deciding: "deciding"
        case .transferring: "transferring"
        case .asking: "asking"
        case .finishing: "finishing"
        case .stopping(let end): "stopping for \(end)"
        case .storing(let end): "storing for \(end)"
        case .ended(let end): "ended with \(end)"
        }
    }

    private func text(_ effect: Machine.Effect) -> String {
        switch effect {
        case .none: "-"
        case .start: "starts"
        case .stop(let stop): text(stop)
        case .pause: "pauses"
        case .resume: "resumes"
        case .resumeReceiving: "resumes"
        case .receive: "receives"
        case .cancelReceiving: "cancels receiving"
        case .restart: "restarts"
        case .processEnd: "processes the end"
        case .then(let step): text(step)
        }
    }

    private func text(_ step: Machine.Step) -> String {
        switch step {
        case .none: "-"
        case .keepEnd: "keeps the end"
        case .judgeEnd: "judges the end"
        case .proceed(let next): "then \(next)"
        case .startAgain: "starts again"
        case .report(let end): "reports \(end)"
        }
    }

    private func text(_ stop: Machine.Stop) -> String {
        "stops \(stop.transfer == nil ? "nothing" : "the transfer")"
    }
}
