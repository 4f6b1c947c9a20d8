import Foundation
import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1))) struct PieceQueueTests {
    /// Bytes from which on a queue is full.
    private static let capacity = 512 * 1024

    private static let fillings: [([Int], Bool)] = [
        ([], false), ([0], false), ([capacity - 1], false), ([capacity], true), ([capacity + 1], true),
        ([1, capacity - 2], false), ([1, capacity - 1], true), ([capacity / 2, capacity / 2], true),
    ]

    @Test(arguments: fillings) func aQueueIsFullFromHalfAMebibyteOn(pieces: [Int], isFull: Bool) {
        let queue = PieceQueue()
        for piece in pieces { _ = queue.append(piece) }
        #expect(queue.isFull == isFull)
    }

    /// Lengths of pieces, the order in which they arrive, and whether each arrival makes room.
    private static let arrivals: [([Int], [Int], [Bool])] = [
        ([100], [0], [false]),
        ([capacity], [0], [true]),
        ([capacity, 1], [1, 0], [false, true]),
        ([capacity, 1], [0, 1], [true, false]),
        ([300_000, 300_000], [1, 0], [true, false]),
        ([capacity, capacity], [0, 1], [false, true]),
        ([capacity - 1, 0, 1], [1, 0, 2], [false, true, false]),
    ]

    @Test(arguments: arrivals)
    func onlyTheArrivalThatMakesRoomIsAChange(pieces: [Int], order: [Int], expected: [Bool]) {
        let queue = PieceQueue()
        let changes = Locked(0)
        queue.onChange = { changes.withLock { $0 += 1 } }
        let done = pieces.map { queue.append($0) }
        var makesRoom: [Bool] = []
        for index in order {
            let before = changes.withLock { $0 }
            done[index]()
            let isChange = changes.withLock { $0 } > before
            #expect(!isChange || !queue.isFull)
            makesRoom.append(isChange)
        }
        #expect(makesRoom == expected)
        #expect(!queue.isFull)
    }

    @Test func aQueueIsFullAgainAfterItHadRoom() {
        let queue = PieceQueue()
        let changes = Locked(0)
        queue.onChange = { changes.withLock { $0 += 1 } }
        for round in 1...3 {
            let done = queue.append(Self.capacity)
            #expect(queue.isFull)
            done()
            #expect(changes.withLock { $0 } == round)
        }
    }

    @Test func theLastClosureThatWasSetIsCalled() {
        let queue = PieceQueue()
        let calls = Locked<[String]>([])
        queue.onChange = { calls.withLock { $0.append("first") } }
        let first = queue.append(Self.capacity)
        queue.onChange = { calls.withLock { $0.append("second") } }
        first()
        queue.onChange = nil
        queue.append(Self.capacity)()
        #expect(calls.withLock { $0 } == ["second"])
        #expect(!queue.isFull)
    }

    /// The closure is called outside the lock, which cannot be taken twice.
    @Test func theClosureMayAskTheQueue() {
        let queue = PieceQueue()
        let answers = Locked<[Bool]>([])
        queue.onChange = { [weak queue] in
            let isFull = queue?.isFull ?? true
            answers.withLock { $0.append(isFull) }
        }
        queue.append(Self.capacity)()
        #expect(answers.withLock { $0 } == [false])
    }
}
