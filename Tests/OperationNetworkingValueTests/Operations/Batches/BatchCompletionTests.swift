import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct BatchCompletionTests {
    @Test func closuresAreCalledOnceInTheirOrderAndLaterOnesAtOnce() {
        let completion = BatchCompletion()
        let called = Locked<[Int]>([])
        for number in 1...3 { completion.whenComplete { called.withLock { $0.append(number) } } }
        #expect(called.withLock { $0 }.isEmpty)
        completion.complete()
        #expect(called.withLock { $0 } == [1, 2, 3])
        completion.whenComplete { called.withLock { $0.append(4) } }
        completion.complete()
        #expect(called.withLock { $0 } == [1, 2, 3, 4])
    }

    @Test func aClosureMayAddAnother() {
        let completion = BatchCompletion()
        let called = Locked(0)
        completion.whenComplete { completion.whenComplete { called.withLock { $0 += 1 } } }
        completion.complete()
        #expect(called.withLock { $0 } == 1)
    }
}
