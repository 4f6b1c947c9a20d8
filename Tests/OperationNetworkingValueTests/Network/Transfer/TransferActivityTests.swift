import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct TransferActivityTests {
    private let start = MonotonicTime(seconds: 100)

    /// A transfer that would count as idle at 110, by what the kernel says then.
    private func look(_ seconds: Double?, _ unacknowledged: Int) -> MonotonicTime? {
        var activity = TransferActivity(since: start)
        return look(&activity, at: 110, seconds, unacknowledged)
    }

    private func look(
        _ activity: inout TransferActivity,
        at now: Double,
        _ seconds: Double?,
        _ unacknowledged: Int
    ) -> MonotonicTime? {
        activity.nextLook(
            after: MonotonicTime(seconds: now),
            timeout: 10,
            by: SocketMovement(secondsSinceReceived: seconds, unacknowledged: unacknowledged)
        )
    }

    @Test(
        arguments: [
            (nil, nil), (10, nil), (3600, nil), (4, 116), (0, 120), (9.9, 110.1),
            // The connection itself, by the kernel's ticks.
            (9.995, nil),
        ] as [(Double?, Double?)]
    )
    func bytesThatTheKernelReceivedAreMoves(seconds: Double?, next: Double?) throws {
        let look = look(seconds, 0)
        #expect((look == nil) == (next == nil))
        if let look, let next { #expect(abs(look.seconds - next) < 1e-6) }
    }

    /// Some sandboxes count nothing, and say 0.
    @Test(
        arguments: [(0, 0, 0, nil), (0, 9000, 0, 0), (10_000, 10_000, 10_000, 10), (250, 0, 0, 0.25)]
            as [(UInt32, UInt32, UInt32, Double?)]
    )
    func aKernelThatCountsNothingKnowsNothing(
        received: UInt32,
        sent: UInt32,
        acknowledged: UInt32,
        seconds: Double?
    ) {
        let age = SocketMovement.secondsSinceReceived(received, sent: sent, acknowledged: acknowledged)
        #expect(age == seconds)
    }

    /// The first look has nothing to compare with.
    @Test func bytesThatAreStillBeingSentAreMoves() {
        var activity = TransferActivity(since: start)
        #expect(look(&activity, at: 110, 50, 4000)?.seconds == 111)
        #expect(look(&activity, at: 111, 51, 3000)?.seconds == 121)
        #expect(look(&activity, at: 121, 61, 2999)?.seconds == 131)
        #expect(look(&activity, at: 131, 71, 2999) == nil)
    }

    /// libcurl has written again meanwhile, so there are more.
    @Test func aCheckBeforeTheLastActivityDoesNotCount() {
        for move in 0..<3 {
            var activity = TransferActivity(since: start)
            #expect(look(&activity, at: 110, nil, 4000)?.seconds == 111)
            #expect(look(&activity, at: 111, nil, 3000)?.seconds == 121)
            switch move {
            case 0: activity.didMove(now: MonotonicTime(seconds: 119))
            case 1: _ = activity.resume(now: MonotonicTime(seconds: 119))
            default: activity.setPaused(false, now: MonotonicTime(seconds: 119))
            }
            #expect(look(&activity, at: 129, nil, 3500)?.seconds == 130)
            #expect(look(&activity, at: 130, nil, 3400)?.seconds == 140)
        }
    }

    @Test func bytesThatAreNotTakenAreNone() {
        var activity = TransferActivity(since: start)
        #expect(look(&activity, at: 110, nil, 4000)?.seconds == 111)
        #expect(look(&activity, at: 111, nil, 4000) == nil)
    }

    // MARK: - Heads, and what stands between the bytes of a body

    private func nextLook(_ activity: TransferActivity, at now: Double) -> Double? {
        activity.nextLook(after: MonotonicTime(seconds: now), timeout: 10)?.seconds
    }

    @Test func aHeadHasItsTimeFromItsFirstLineOn() {
        var activity = TransferActivity(since: start)
        for second in stride(from: 105.0, to: 115, by: 1) {
            activity.didReceiveLine(now: MonotonicTime(seconds: second))
            #expect(nextLook(activity, at: second) == 115)
        }
        #expect(nextLook(activity, at: 115) == nil && activity.isInsideFraming)
        // Nor does what comes of a line count.
        #expect(look(&activity, at: 115, 0.5, 0) == nil)
        activity.didMove(now: MonotonicTime(seconds: 115))
        #expect(nextLook(activity, at: 115) == 125 && !activity.isInsideFraming)
    }

    /// Of a head's first line, or a chunk's extension, only the kernel knows.
    @Test func theFirstOctetsCountOnce() {
        var activity = TransferActivity(since: start)
        #expect(look(&activity, at: 110, 1, 0)?.seconds == 119)
        #expect(look(&activity, at: 119, 1, 0) == nil)
    }

    private func look(
        _ activity: inout TransferActivity,
        at now: Double,
        of octets: TransferActivity.Octets
    ) -> Double? {
        activity.nextLook(
            after: MonotonicTime(seconds: now),
            timeout: 10,
            by: SocketMovement(secondsSinceReceived: 1, unacknowledged: 0),
            of: octets
        )?.seconds
    }

    /// Its bytes come when it is whole, and begin the count anew.
    @Test func aPartOfARecordOfTheBodyCountsSomeTimes() {
        var activity = TransferActivity(since: start)
        var now = 110.0
        for _ in 0..<2 {
            for _ in 0..<TransferActivity.maximumRecordMoves {
                #expect(look(&activity, at: now, of: .record) == now + 9)
                now += 9
            }
            activity.didMove(now: MonotonicTime(seconds: now))
            now += 10
        }
        for _ in 0..<TransferActivity.maximumRecordMoves {
            #expect(look(&activity, at: now, of: .record) == now + 9)
            now += 9
        }
        // It is no record of the body; as other octets it counts once.
        #expect(look(&activity, at: now, of: .record) == now + 9)
        #expect(look(&activity, at: now + 9, of: .record) == nil)
        #expect(look(&activity, at: now + 9, of: .framing) == nil)
    }

    /// The answer of a proxy to CONNECT is a head.
    @Test func aHandshakeCountsAlsoBehindTheAnswerOfAProxy() {
        var activity = TransferActivity(since: start)
        #expect(look(&activity, at: 110, of: .framing) == 119)
        for second in stride(from: 119.0, to: 300, by: 9) {
            #expect(look(&activity, at: second, of: .handshake) == second + 9)
        }
        #expect(look(&activity, at: 309, of: .framing) == nil)
        // No line of a head has come.
        #expect(!activity.isInsideFraming)
    }

    /// As a session ticket may have come before.
    @Test func theFirstLineCountsBehindOctetsThatOnlyTheKernelKnows() {
        var activity = TransferActivity(since: start)
        #expect(look(&activity, at: 110, of: .framing) == 119)
        #expect(!activity.isInsideFraming)
        for second in [118.0, 119, 120] { activity.didReceiveLine(now: MonotonicTime(seconds: second)) }
        #expect(nextLook(activity, at: 120) == 128 && activity.isInsideFraming)
        #expect(look(&activity, at: 128, of: .framing) == nil)
    }

    /// Without TLS they are of the head, which has begun with them.
    @Test func withoutTLSTheFirstLineDoesNotCountBehindOctets() {
        var activity = TransferActivity(since: start, isPlain: true)
        #expect(look(&activity, at: 110, of: .framing) == 119)
        #expect(activity.isInsideFraming)
        activity.didReceiveLine(now: MonotonicTime(seconds: 118))
        #expect(nextLook(activity, at: 118) == 119)
        #expect(look(&activity, at: 119, of: .framing) == nil)
        activity.didMove(now: MonotonicTime(seconds: 119))
        activity.didReceiveLine(now: MonotonicTime(seconds: 120))
        #expect(nextLook(activity, at: 120) == 130)
    }

    @Test func interimHeadsBeginItAgainAFewTimes() {
        var activity = TransferActivity(since: start)
        var now = 100.0
        for _ in 0..<TransferActivity.maximumInterimMoves {
            now += 9
            activity.didReceiveLine(now: MonotonicTime(seconds: now))
            activity.didReceiveInterim(now: MonotonicTime(seconds: now))
            #expect(nextLook(activity, at: now) == now + 10)
        }
        // The first line of the next one still counts.
        let last = now + 9
        for second in stride(from: last, to: last + 10, by: 1) {
            activity.didReceiveLine(now: MonotonicTime(seconds: second))
            activity.didReceiveInterim(now: MonotonicTime(seconds: second))
        }
        #expect(nextLook(activity, at: last + 10) == nil)
        // A body that goes up meanwhile moves.
        activity.didMove(now: MonotonicTime(seconds: last + 10))
        #expect(nextLook(activity, at: last + 10) == last + 20)
    }
}
