import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

struct DiscardedByteCounterTests {
    private static let start = MonotonicTime.now
    private static let maximum = DiscardedByteCounter.maximumLength
    private static let timeLimit = DiscardedByteCounter.timeLimit

    @Test func nothingIsCountedUntilABodyIsDiscarded() {
        var counter = DiscardedByteCounter(usesTunnel: false)
        #expect(!counter.isOn)
        #expect(counter.didProgress(received: .max, now: Self.start) == false)
    }

    @Test func aBodyIsCountedFromItsBeginning() {
        var counter = DiscardedByteCounter(usesTunnel: false)
        counter.begin(now: Self.start)
        #expect(counter.didProgress(received: 5000, now: Self.start) == false)
        #expect(counter.didProgress(received: 5000, now: Self.start) == false)
        #expect(counter.didProgress(received: 6000, now: Self.start) == true)
        #expect(counter.didProgress(received: 5000 + Self.maximum, now: Self.start) == true)
        #expect(counter.didProgress(received: 5001 + Self.maximum, now: Self.start) == nil)
        // The next answer has a body of its own.
        counter.begin(now: Self.start)
        #expect(counter.didProgress(received: 10, now: Self.start) == false)
        #expect(counter.didProgress(received: 20, now: Self.start) == true)
    }

    @Test func aBodyHasItsTime() {
        var counter = DiscardedByteCounter(usesTunnel: false)
        counter.begin(now: Self.start)
        #expect(counter.didProgress(received: 0, now: Self.start + Self.timeLimit) == false)
        #expect(counter.didProgress(received: 1, now: Self.start + Self.timeLimit + 1) == nil)
        counter.end()
        #expect(counter.didProgress(received: 2, now: Self.start + Self.timeLimit + 1) == false)
    }

    @Test func aTunnelHasSoManyBytes() {
        var counter = DiscardedByteCounter(usesTunnel: true)
        #expect(counter.isOn)
        for _ in 0..<DiscardedByteCounter.maximumTunnelLength {
            #expect(counter.didProgress(received: 0, now: Self.start) == false)
        }
        #expect(counter.didProgress(received: 0, now: Self.start) == nil)
    }
}
