import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

struct UnseenBytesTests {
    private static let start = MonotonicTime.now

    @Test func nothingIsCountedUntilSomethingIsUnseen() {
        var unseen = UnseenBytes(usesTunnel: false)
        #expect(!unseen.isOn)
        #expect(unseen.didProgress(received: .max, now: Self.start) == false)
    }

    @Test func aBodyIsCountedFromItsBeginning() {
        var unseen = UnseenBytes(usesTunnel: false)
        unseen.begin(now: Self.start)
        #expect(unseen.didProgress(received: 5000, now: Self.start) == false)
        #expect(unseen.didProgress(received: 5000, now: Self.start) == false)
        #expect(unseen.didProgress(received: 6000, now: Self.start) == true)
        #expect(unseen.didProgress(received: 5000 + UnseenBytes.maximumLength, now: Self.start) == true)
        #expect(unseen.didProgress(received: 5001 + UnseenBytes.maximumLength, now: Self.start) == nil)
        // The next answer has a body of its own.
        unseen.begin(now: Self.start)
        #expect(unseen.didProgress(received: 10, now: Self.start) == false)
        #expect(unseen.didProgress(received: 20, now: Self.start) == true)
    }

    @Test func aBodyHasItsTime() {
        var unseen = UnseenBytes(usesTunnel: false)
        unseen.begin(now: Self.start)
        #expect(unseen.didProgress(received: 0, now: Self.start + UnseenBytes.patience) == false)
        #expect(unseen.didProgress(received: 1, now: Self.start + UnseenBytes.patience + 1) == nil)
        unseen.end()
        #expect(unseen.didProgress(received: 2, now: Self.start + UnseenBytes.patience + 1) == false)
    }

    @Test func aTunnelHasSoManyBytes() {
        var unseen = UnseenBytes(usesTunnel: true)
        #expect(unseen.isOn)
        for _ in 0..<UnseenBytes.maximumTunnelLength {
            #expect(unseen.didProgress(received: 0, now: Self.start) == false)
        }
        #expect(unseen.didProgress(received: 0, now: Self.start) == nil)
    }
}
