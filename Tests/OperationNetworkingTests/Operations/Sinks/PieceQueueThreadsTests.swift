import Dispatch
import Testing

@testable import OperationNetworking

@Suite(.timeLimit(.minutes(1))) struct PieceQueueThreadsTests {
    @Test func piecesOfSeveralThreadsAreCountedToTheByte() {
        let queue = PieceQueue()
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for number in 0..<1000 { queue.append(thread * 1000 + number)() }
        }
        let rest = queue.append(512 * 1024 - 1)
        #expect(!queue.isFull)
        let last = queue.append(1)
        #expect(queue.isFull)
        rest()
        last()
        #expect(!queue.isFull)
    }
}
