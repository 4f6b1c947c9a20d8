import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct WritePaceTests {
    private static let few = 16 * 1024

    private static func time(_ milliseconds: Double) -> MonotonicTime {
        MonotonicTime(seconds: milliseconds / 1000)
    }

    @Test func whatComesSlowlyIsWrittenAtOnce() {
        var pace = WritePace()
        for milliseconds in stride(from: 0.0, to: 20, by: 1.5) {
            #expect(pace.urgency(waiting: 1, now: Self.time(milliseconds)) == .now)
            pace.didWriteAll()
        }
    }

    @Test func whatComesFastIsWrittenTogether() {
        var pace = WritePace()
        #expect(pace.urgency(waiting: Self.few, now: Self.time(0)) == .now)
        pace.didWriteAll()
        #expect(pace.urgency(waiting: Self.few, now: Self.time(0.1)).isAfter)
        #expect(pace.urgency(waiting: 2 * Self.few, now: Self.time(0.2)) == .none)
        #expect(pace.urgency(waiting: WritePace.worthWriting - 1, now: Self.time(0.3)) == .none)
        #expect(pace.urgency(waiting: WritePace.worthWriting, now: Self.time(0.4)) == .now)
    }

    @Test func aTimerWritesWhatNothingFollows() {
        var pace = WritePace()
        #expect(pace.urgency(waiting: Self.few, now: Self.time(0)) == .now)
        pace.didWriteAll()
        #expect(pace.urgency(waiting: 1, now: Self.time(0.9)).isAfter)
        #expect(pace.timerDidFire(waiting: 1, now: Self.time(1.1)) == .now)
        pace.didWriteAll()
        // More comes before the timer, which finds nothing then.
        #expect(pace.urgency(waiting: 1, now: Self.time(1.2)).isAfter)
        #expect(pace.urgency(waiting: 2, now: Self.time(2.2)) == .now)
        pace.didWriteAll()
        #expect(pace.timerDidFire(waiting: 0, now: Self.time(2.3)) == .none)
        // Others began to be written just before.
        #expect(pace.urgency(waiting: 1, now: Self.time(2.4)).isAfter)
        #expect(pace.urgency(waiting: WritePace.worthWriting, now: Self.time(2.5)) == .now)
        pace.didWriteAll()
        #expect(pace.urgency(waiting: 1, now: Self.time(2.6)) == .none)
        #expect(pace.timerDidFire(waiting: 1, now: Self.time(2.7)).isAfter)
        #expect(pace.timerDidFire(waiting: 1, now: Self.time(3.6)) == .now)
    }

    /// Bytes come with pauses of all lengths, the disk is quick, and timers are late by as much as a millisecond.
    @Test(arguments: [1, 10, 100, 1000, 20_000], [0.0, 1])
    func noByteWaitsForFiveMilliseconds(pieces: Int, lateness: Double) {
        var run = WritePaceRun(seed: UInt64(pieces), lateness: lateness / 1000)
        for _ in 0..<5000 { run.play(meanPause: 1 / Double(pieces)) }
        run.playToEnd()
        #expect(run.written == run.received)
        #expect(run.longestWait <= 0.005)
        #expect(run.longestWait > 0 || pieces == 1)
    }

    /// 1 GiB in a second: one timer costs as much as a few writes do.
    @Test func aFastBodySetsAboutOneTimerInAMillisecond() {
        var run = WritePaceRun(seed: 1, lateness: 0)
        for _ in 0..<65536 { run.play(meanPause: 1.0 / 65536) }
        run.playToEnd()
        #expect(run.written == 1 << 30)
        #expect(Double(run.timers) <= 1500 * run.now + 1)
    }

    @Test func theQueueIsNotWokenWhileItWrites() {
        var pace = WritePace()
        #expect(pace.urgency(waiting: 1, now: Self.time(0)) == .now)
        #expect(pace.urgency(waiting: 1 << 20, now: Self.time(100)) == .none)
        pace.didWriteAll()
        #expect(pace.urgency(waiting: 1, now: Self.time(101)) == .now)
    }
}

extension WritePace.Urgency {
    fileprivate var isAfter: Bool {
        if case .after(let seconds) = self { seconds > 0 && seconds <= WritePace.rest } else { false }
    }
}
