import Testing

@testable import OperationNetworking

@Suite struct CoalescedWorkTests {
    @Test func theFirstOfEachRoundNeedsATimer() {
        var round = CoalescedWork()
        var done: [Int] = []
        let firsts = (0..<3).map { number in round.add { done.append(number) } }
        #expect(firsts == [true, false, false])
        for work in round.takeAll() {
            work()
            let isFirst = round.add { done.append(9) }
            #expect(isFirst == (done.count == 1))
        }
        #expect(done == [0, 1, 2])
        let next = round.takeAll()
        #expect(next.count == 3 && round.takeAll().isEmpty)
    }
}
