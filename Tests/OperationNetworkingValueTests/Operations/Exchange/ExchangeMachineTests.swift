import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct ExchangeMachineTests {
    typealias Place = MachineScene.Place
    typealias Event = MachineScene.Event

    /// For each event, the places where it has an effect. In all others it has none, and the phase stays.
    private static let rows: [Event: [Place: String]] = [
        .begin: [
            .idle: "starts > deciding",
            .held: "resumes > transferring",
            .heldToEnd: "processes the end > transferring",
            .ended: "reports the end > ended with the end",
        ],
        .suspend: stops,
        .suspendForGood: stops.merging([
            .receiving: "pauses > transferring",
            .takenUp: "pauses > transferring",
        ]) { $1 },
        .cancel: stops.merging([
            .held: "stops the transfer > idle",
            .heldToEnd: "stops the transfer > idle",
            .finishing: "stops nothing > finishing",
            .finishingUnwanted: "stops nothing > finishing",
            .ended: "reports the end > ended with the end",
        ]) { $1 },
        .timeIsOver: stops.merging([
            .held: "stops the transfer > idle",
            .heldToEnd: "stops the transfer > idle",
        ]) { $1 },
        .drop: [
            .held: "stops the transfer > idle",
            .heldToEnd: "stops the transfer > idle",
        ],
        .waitIsOver: [.waiting: "continues > deciding"],
        .earlierWaitIsOver: [:],
        .sinkOpened: [.opening: "continues > deciding"],
        .sinkFoundNoDescriptor: [.opening: "continues > deciding"],
        .sinkHasRoom: [
            .receiving: "resumes > transferring",
            .questioning: "resumes > transferring",
            .passing: "resumes > transferring",
            .held: "resumes > transferring",
            .heldToEnd: "resumes > transferring",
            .takenUp: "resumes > transferring",
        ],
        .sinkFails: [
            .receiving: "restarts > deciding",
            .questioning: "restarts > deciding",
            .passing: "restarts > deciding",
            .takenUp: "restarts > deciding",
            .held: "stops the transfer > idle",
            .heldToEnd: "stops the transfer > idle",
        ],
        .otherSinkHasRoom: [:],
        .otherSinkFails: [:],
        .transferEnds: [
            .receiving: "judges the end > deciding",
            .questioning: "keeps the end > asking",
            .passing: "then again > deciding",
            .held: "keeps the end > transferring",
            .heldToEnd: "keeps the end > transferring",
            .takenUp: "judges the end > deciding",
        ],
        .otherTransferEnds: [:],
        .answerGoOn: [
            .questioning: "cancels receiving > transferring",
            .asking: "then next > deciding",
        ],
        .answerGoOnWithBody: [
            .questioning: "receives > transferring",
            .asking: "then next > deciding",
        ],
        .answerTake: [
            .questioning: "receives > transferring",
            .asking: "judges the end > deciding",
        ],
        .answerTakeThenFail: [
            .questioning: "receives > transferring",
            .asking: "then fail > deciding",
        ],
        .earlierAnswer: [:],
        .sinkEnded: [.finishing: "continues > deciding", .finishingUnwanted: "continues > deciding"],
        .sinkWantsWhole: [.finishing: "starts again > deciding", .finishingUnwanted: "- > idle"],
        .sinkStopped: [.stopping: "concludes the end > stopping for the end"],
        .cookiesStored: [.storing: "reports the end > ended with the end"],
        .fail: Dictionary(
            uniqueKeysWithValues: Place.allCases
                .filter { ![.stopping, .storing, .ended].contains($0) }
                .map { ($0, "stops the sink > stopping for failure") }
        ),
    ]

    private static let stops: [Place: String] = [
        .idle: "stops nothing > idle",
        .opening: "stops nothing > idle",
        .waiting: "stops nothing > idle",
        .deciding: "stops nothing > idle",
        .receiving: "stops the transfer > idle",
        .questioning: "stops the transfer > idle",
        .passing: "stops the transfer > idle",
        .takenUp: "stops the transfer > idle",
        .asking: "stops nothing > idle",
    ]

    @Test(arguments: Event.allCases)
    func eachEventHasItsEffectInEachPlace(event: Event) throws {
        let row = try #require(Self.rows[event])
        for place in Place.allCases {
            var scene = MachineScene(place)
            let expected = row[place] ?? "- > \(scene.phase)"
            #expect(scene.after(event) == expected, "\(event) when \(place)")
        }
    }

    // MARK: - Rounds

    @Test(arguments: [Event.suspend, .cancel, .timeIsOver])
    func resultsAfterAStopAreIgnored(event: Event) {
        var scene = MachineScene(.waiting)
        _ = scene.after(event)
        #expect(scene.after(.waitIsOver) == "- > idle")
        _ = scene.after(.begin)
        #expect(scene.after(.waitIsOver) == "- > deciding")
        let round = scene.machine.wait()
        #expect(scene.after(.waitIsOver) == "- > waiting")
        let wasAwaited = scene.machine.endWait(in: round)
        #expect(wasAwaited)
    }

    @Test func anAnswerFromBeforeAPauseIsNotForTheNextQuestion() {
        var scene = MachineScene(.questioning)
        _ = scene.after(.suspend)
        #expect(scene.after(.answerTake) == "- > idle")
        _ = scene.after(.begin)
        scene.machine.start(MachineScene.id)
        let round = scene.machine.ask()
        _ = scene.machine.decide(.ask(keeping: 1))
        #expect(scene.after(.answerTake) == "- > transferring")
        #expect(scene.machine.isAsked(in: round))
    }

    @Test func anAnswerIsTakenOnce() {
        var scene = MachineScene(.questioning)
        #expect(scene.after(.answerTake) == "receives > transferring")
        #expect(scene.after(.answerGoOn) == "- > transferring")
        #expect(scene.after(.transferEnds) == "judges the end > deciding")
    }

    @Test func theAnswerAfterTheEndOfATransferStillCounts() {
        var scene = MachineScene(.questioning)
        #expect(scene.after(.transferEnds) == "keeps the end > asking")
        #expect(scene.after(.answerGoOn) == "then next > deciding")
        #expect(scene.machine.body == .drop)
    }

    // MARK: - Opening

    @Test func aSinkIsOpenedOnceHoweverOftenTheExchangeIsPaused() {
        var scene = MachineScene(.opening)
        for _ in 1...2 {
            _ = scene.after(.suspend)
            _ = scene.after(.begin)
            let opens = scene.machine.openSink()
            #expect(!opens, "it is being opened already")
        }
        #expect(!scene.machine.hasOpenSink && !scene.machine.hasClosedSink)
        #expect(scene.after(.sinkOpened) == "continues > deciding")
        #expect(scene.machine.hasOpenSink)
    }

    @Test func aSinkThatOpensDuringAPauseIsOpenAfterIt() {
        var scene = MachineScene(.opening)
        _ = scene.after(.suspend)
        #expect(scene.after(.sinkOpened) == "- > idle")
        #expect(scene.machine.hasOpenSink)
    }

    @Test func aSinkThatFoundNoDescriptorIsOpenedLater() {
        var scene = MachineScene(.opening)
        _ = scene.after(.suspend)
        #expect(scene.after(.sinkFoundNoDescriptor) == "- > idle")
        #expect(scene.machine.hasClosedSink)
        _ = scene.after(.begin)
        let opens = scene.machine.openSink()
        #expect(opens)
    }

    // MARK: - Bodies

    @Test func aHeadDecidesTheBody() {
        var scene = MachineScene(.deciding)
        scene.machine.start(MachineScene.id)
        #expect(scene.machine.body == .drop)
        #expect(scene.machine.decide(.take(.compare(3))) == .receive)
        #expect(scene.machine.body == .compare(3))
        #expect(scene.machine.decide(.ask(keeping: 4)) == .receive)
        #expect(scene.machine.body == .bufferSeparately(4))
        #expect(scene.machine.decide(.askFirst(keeping: 5)) == .later)
        #expect(scene.machine.body == .bufferSeparately(5))
        #expect(scene.machine.decide(.takeFirst(.deliver)) == .later)
        #expect(scene.machine.body == .deliver && scene.machine.isAsked(in: scene.machine.round))
        #expect(scene.after(.answerTake) == "receives > transferring")
        #expect(scene.machine.decide(.proceed("next", receiving: 6)) == .receive)
        #expect(scene.machine.body == .discard(6))
        #expect(scene.machine.decide(.proceed("next")) == .refuse)
        #expect(scene.machine.body == .drop)
    }

    @Test func onlyABodyWhoseUseIsKnownHasALimitOfTime() {
        var scene = MachineScene(.questioning)
        #expect(scene.machine.unusedTransfer == nil, "the owner thinks")
        _ = scene.after(.answerTake)
        #expect(scene.machine.unusedTransfer?.use == .explanation)
        #expect(MachineScene(.passing).machine.unusedTransfer?.use == .discarded)
        #expect(MachineScene(.receiving).machine.unusedTransfer == nil)
        #expect(MachineScene(.asking).machine.unusedTransfer == nil)
    }

    @Test func aFullSinkHoldsOnlyWhatIsForIt() {
        #expect(MachineScene(.receiving).machine.mustWait(true))
        #expect(!MachineScene(.receiving).machine.mustWait(false))
        #expect(!MachineScene(.questioning).machine.mustWait(true))
        #expect(!MachineScene(.passing).machine.mustWait(true))
        #expect(MachineScene(.held).machine.mustWait(false))
    }

    @Test func anAbandonedBodyLeadsToTheNextStep() {
        var scene = MachineScene(.receiving)
        scene.machine.abandonBody(for: "again")
        #expect(scene.after(.transferEnds) == "then again > deciding")
    }

    @Test func theNextRequestForgetsTheLastResponse() {
        var scene = MachineScene(.passing)
        _ = scene.after(.transferEnds)
        scene.machine.forgetResponse()
        scene.machine.start(MachineScene.other)
        #expect(scene.machine.body == .drop)
        #expect(scene.after(.otherTransferEnds) == "judges the end > deciding")
    }

    // MARK: - Holding

    @Test(arguments: [Place.questioning, .passing])
    func onlyABodyForTheSinkIsHeld(place: Place) {
        var scene = MachineScene(place)
        #expect(scene.after(.suspendForGood) == "stops the transfer > idle")
    }

    @Test(arguments: [Event.cancel, .timeIsOver, .drop, .sinkFails])
    func afterAHeldTransferWasStoppedAPauseStopsAgain(event: Event) {
        var scene = MachineScene(.held)
        #expect(scene.after(event) == "stops the transfer > idle")
        _ = scene.after(.begin)
        _ = scene.machine.wait()
        #expect(scene.after(.suspend) == "stops nothing > idle")
    }

    @Test func aTransferThatWasHeldSaysSoUntilTheNext() {
        var scene = MachineScene(.held)
        #expect(!scene.machine.wasHeld)
        _ = scene.after(.begin)
        #expect(scene.machine.wasHeld)
        #expect(scene.after(.transferEnds) == "judges the end > deciding")
        #expect(scene.machine.wasHeld, "its end is judged by that")
        scene.machine.forgetResponse()
        #expect(!scene.machine.wasHeld)
    }

    // MARK: - Answers

    @Test func anAnswerSaysWhatBecomesOfTheBodyAndWhatFollows() {
        var scene = MachineScene(.questioning)
        #expect(scene.after(.answerGoOnWithBody) == "receives > transferring")
        #expect(scene.machine.body == .discard(10))
        #expect(scene.after(.transferEnds) == "then next > deciding")

        scene = MachineScene(.questioning)
        _ = scene.after(.answerGoOn)
        #expect(scene.machine.body == .drop)
        #expect(scene.after(.transferEnds) == "then next > deciding")

        scene = MachineScene(.questioning)
        _ = scene.after(.answerTakeThenFail)
        #expect(scene.machine.body == .bufferSeparately(10), "it is the response's")
        #expect(scene.after(.transferEnds) == "then fail > deciding")
    }

    @Test func anAnswerAfterTheSinkFailedIsTooLate() {
        var scene = MachineScene(.questioning)
        #expect(scene.after(.sinkFails) == "restarts > deciding")
        _ = scene.machine.wait()
        #expect(scene.after(.answerGoOn) == "- > waiting")
    }

    // MARK: - The end

    @Test func aBufferedBodyEndsWithoutTheSink() {
        var scene = MachineScene(.asking)
        _ = scene.after(.answerTake)
        let endsSink = scene.machine.finish()
        #expect(!endsSink)
        #expect(scene.phase == "deciding")
    }

    @Test func aCancelWhileTheSinkFinishesIsTheEnd() {
        var scene = MachineScene(.finishing)
        #expect(scene.after(.cancel) == "stops nothing > finishing")
        #expect(scene.after(.fail) == "stops the sink > stopping for failure")
        #expect(scene.after(.sinkEnded) == "- > stopping for failure")
        #expect(scene.after(.sinkStopped) == "concludes failure > stopping for failure")
    }

    @Test func theFirstEndStands() {
        var scene = MachineScene(.stopping)
        #expect(scene.machine.isDecided)
        #expect(scene.after(.fail) == "- > stopping for the end")
        #expect(scene.machine.conclude("the end, with data", cookiesAreStored: false) == nil)
        #expect(scene.after(.fail) == "- > storing for the end, with data")
        #expect(scene.after(.cookiesStored) == "reports the end, with data > ended with the end, with data")
        #expect(scene.after(.cookiesStored) == "- > ended with the end, with data")
        #expect(scene.after(.begin) == "reports the end, with data > ended with the end, with data")
    }

    @Test func anExchangeThatWasHeldWhenItBeganAgainStartsOverAtOnce() {
        var scene = MachineScene(.held)
        _ = scene.after(.begin)
        _ = scene.after(.transferEnds)
        _ = scene.machine.finish()
        #expect(scene.after(.sinkWantsWhole) == "starts again > deciding")
    }

    @Test func aSuspendedExchangeThatBeganAgainWhileItFinishedStartsOver() {
        var scene = MachineScene(.finishingUnwanted)
        _ = scene.after(.begin)
        #expect(scene.after(.sinkWantsWhole) == "starts again > deciding")
    }

    /// A step that the exchange takes while nothing is awaited.
    private static func advance(_ machine: inout MachineScene.Machine, _ random: inout RandomNumbers) {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: _ = machine.wait()
        case 1 where !machine.hasOpenSink:
            _ = machine.openSink()
        case 2:
            if machine.finish() { break }
            _ = machine.end(with: "the response")
        default:
            machine.forgetResponse()
            machine.start(MachineScene.id)
            let decisions: [MachineScene.Machine.Decision] = [
                .take(.deliver), .takeFirst(.deliver), .ask(keeping: 1), .askFirst(keeping: 1),
                .proceed("again", receiving: 1),
            ]
            if let decision = decisions.randomElement(using: &random) { _ = machine.decide(decision) }
        }
    }

    /// Commands, waits, answers and ends in any order: an end that is decided stays, and is reported once for
    /// each beginning or cancel that gets it.
    @Test(arguments: 1...200)
    func anyOrderOfEventsKeepsTheEnd(seed: UInt64) {
        var random = RandomNumbers(seed: seed)
        var scene = MachineScene(.idle)
        var end: String?
        var asked = 0
        var reported = 0
        for _ in 1...300 {
            let wasEnded = scene.phase.hasPrefix("ended")
            if scene.phase == "deciding" {
                Self.advance(&scene.machine, &random)
            } else {
                // The end is rarer, or hardly anything would happen before it.
                var event = Event.allCases.randomElement(using: &random) ?? .begin
                if event == .fail, Int.random(in: 0..<10, using: &random) > 0 { event = .begin }
                if wasEnded, event == .begin || event == .cancel { asked += 1 }
                if scene.after(event).contains("reports") { reported += 1 }
                if event == .sinkStopped, case .stopping(let decided) = scene.machine.phase,
                    scene.machine.conclude(decided, cookiesAreStored: Bool.random(using: &random)) != nil
                {
                    reported += 1
                }
            }
            switch scene.machine.phase {
            case .stopping(let decided), .storing(let decided), .ended(let decided):
                #expect(end == nil || end == decided, "an end that is decided stays")
                end = decided
            case .idle, .opening, .waiting, .deciding, .transferring, .asking, .finishing:
                #expect(end == nil, "nothing runs after the end")
            }
        }
        let isEnded = scene.phase.hasPrefix("ended")
        #expect(reported == asked + (isEnded ? 1 : 0))
    }
}
