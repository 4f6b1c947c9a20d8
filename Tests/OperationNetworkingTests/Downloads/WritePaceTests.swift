import OperationNetworkingSystem
import Testing

@testable import OperationNetworking

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
        #expect(pace.urgency(waiting: Self.few, now: Self.time(0.1)) == .soon)
        #expect(pace.urgency(waiting: 2 * Self.few, now: Self.time(0.2)) == .none)
        #expect(pace.urgency(waiting: WritePace.worthWriting - 1, now: Self.time(0.3)) == .none)
        #expect(pace.urgency(waiting: WritePace.worthWriting, now: Self.time(0.4)) == .now)
    }

    @Test func nothingWaitsLongerThanAMillisecondForMore() {
        var pace = WritePace()
        #expect(pace.urgency(waiting: Self.few, now: Self.time(0)) == .now)
        pace.didWriteAll()
        // A timer is set: if no more comes it writes this.
        #expect(pace.urgency(waiting: 1, now: Self.time(0.9)) == .soon)
        // More comes before the timer.
        #expect(pace.urgency(waiting: 2, now: Self.time(1.1)) == .now)
        #expect(WritePace.longestWait + 1 <= 5)
    }

    @Test func theQueueIsNotWokenWhileItWrites() {
        var pace = WritePace()
        #expect(pace.urgency(waiting: 1, now: Self.time(0)) == .now)
        #expect(pace.urgency(waiting: 1 << 20, now: Self.time(100)) == .none)
        pace.didWriteAll()
        #expect(pace.urgency(waiting: 1, now: Self.time(101)) == .now)
    }
}
