import Foundation
import Glibc
import OperationNetworkingSystem
import Testing

@Suite(.timeLimit(.minutes(1)))
struct DeepStackTests {
    /// As many frames as there are levels; each has more than 256 bytes of its own.
    private static func descend(_ levels: Int) -> Int {
        withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { bytes in
            bytes.storeBytes(of: levels, as: Int.self)
            return levels == 0 ? 0 : 1 + descend(levels - 1) + (bytes.load(as: Int.self) - levels)
        }
    }

    @Test func theStackIsLargeEnoughForDeepCalls() throws {
        let depth = Locked(0)
        // Far more than the 512 KiB of a dispatch thread.
        try DeepStack.run(size: 64 << 20) { depth.withLock { $0 = Self.descend(10_000) } }
        #expect(depth.withLock { $0 } == 10_000)
    }

    @Test func itIsAnotherThreadAndHasEndedAfterwards() throws {
        let caller = pthread_self()
        let isOther = Locked(false)
        try DeepStack.run(size: 1 << 20) {
            isOther.withLock { $0 = pthread_equal(pthread_self(), caller) == 0 }
        }
        #expect(isOther.withLock { $0 })
    }

    @Test func aStackThatCannotBeAllocatedIsAnError() {
        let isCalled = Locked(false)
        #expect(throws: SystemError.self) {
            try DeepStack.run(size: 1 << 60) { isCalled.withLock { $0 = true } }
        }
        #expect(!isCalled.withLock { $0 })
    }
}
