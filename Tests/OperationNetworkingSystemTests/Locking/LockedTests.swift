import Dispatch
import Foundation
import OperationNetworkingSystem
import Testing

@Suite(.timeLimit(.minutes(1)))
struct LockedTests {
    @Test func takingTheLockTwiceTraps() async {
        #if arch(arm64)
            let trap = ExitTest.Condition.signal(SIGTRAP)
        #else
            let trap = ExitTest.Condition.signal(SIGILL)
        #endif
        await #expect(processExitsWith: trap) {
            alarm(50)
            let counter = Locked(0)
            counter.withLock { _ in counter.withLock { $0 += 1 } }
        }
    }

    @Test func noChangeIsLostWhenThreadsContend() {
        let counter = Locked(0)
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<10_000 { counter.withLock { $0 += 1 } }
        }
        #expect(counter.withLock { $0 } == 80_000)
    }

    @Test func nobodySeesAHalfMadeChange() {
        let pair = Locked((left: 0, right: 0))
        let torn = Locked(0)
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for _ in 0..<5_000 {
                pair.withLock { pair in
                    if pair.left != pair.right { torn.withLock { $0 += 1 } }
                    pair.left += 1
                    pair.right += 1
                }
            }
        }
        #expect(torn.withLock { $0 } == 0)
    }

    @Test func copiesShareTheValue() {
        let first = Locked("a")
        let second = first
        second.withLock { $0 += "b" }
        #expect(first.withLock { $0 } == "ab")
    }

    @Test func anErrorReleasesTheLockAndKeepsItsType() {
        struct Refusal: Error, Equatable {}
        let value = Locked(1)
        #expect(throws: Refusal()) {
            try value.withLock { value throws(Refusal) in
                value = 2
                throw Refusal()
            }
        }
        #expect(value.withLock { $0 } == 2)
    }

    @Test func theValueIsReleasedWithTheLastCopy() {
        final class Thing: Sendable {}
        weak var thing: Thing?
        do {
            let made = Thing()
            thing = made
            let locked = Locked(made)
            #expect(locked.withLock { $0 } === made)
        }
        #expect(thing == nil)
    }
}
