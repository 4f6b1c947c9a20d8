import OperationNetworking
import Testing

@testable import opget

@Suite struct TallyTests {
    @Test func countsAndBytesAddUp() {
        var tally = Tally(count: 4)
        tally.save(bytes: 1024)
        tally.findAlreadyThere()
        tally.fail(.server, bytes: 10)
        tally.fail(.network, bytes: 0)
        #expect(tally.finished == 4)
        #expect(tally.outcome == .network)
        #expect(tally.summary == "2 of 4 done: 1 fetched (1.0 KiB), 1 already there, 2 failed")
    }

    @Test func bytesOfEarlierRunsAreCountedSeparately() {
        var tally = Tally(count: 3)
        tally.save(bytes: 100, recovered: 40)
        tally.fail(.network, bytes: 10, recovered: 5)
        tally.keep(.resumes)
        tally.keep(.startsOver(.validatorMissing))
        tally.keep(nil)
        tally.findUpToDate()
        #expect(tally.batch(running: 0, received: 0, expected: 0, recovered: 0).recovered == 45)
        #expect(tally.batch(running: 1, received: 9, expected: 9, recovered: 7).recovered == 52)
        #expect(tally.kept.continuable == 1 && tally.kept.obstacles == [.validatorMissing: 1])
        #expect(tally.finished == 3)
        #expect(tally.summary == "2 of 3 done: 1 fetched (100 B), 1 up to date, 1 failed")
    }

    @Test func theTotalIsKnownOnlyWhenThatOfEveryItemIs() {
        var tally = Tally(count: 3)
        tally.save(bytes: 100)
        #expect(tally.batch(running: 1, received: 5, expected: 50).expected == nil)
        #expect(tally.batch(running: 2, received: 5, expected: nil).expected == nil)
        let batch = tally.batch(running: 2, received: 5, expected: 50)
        #expect(batch.expected == 150)
        #expect(batch.received == 105)
        #expect(batch.finished == 1)
    }

    @Test func sumsStopAtTheHighestNumber() {
        var tally = Tally(count: 4)
        tally.save(bytes: .max, recovered: .max)
        tally.fail(.network, bytes: 1, recovered: 1)
        let batch = tally.batch(running: 2, received: 1, expected: .max, recovered: .max)
        #expect(batch.expected == .max && batch.received == .max && batch.recovered == .max)
        #expect(tally.bytesSaved == .max)
        #expect(TransferState.percent(.max, 1) == 100)
    }

    @Test(arguments: [(5, 1024, 5), (1000, 1024, 198), (8, 42, 2), (8, 0, 1), (8, Int.max, 8)])
    func transfersFitTheDescriptors(asked: Int, descriptors: Int, expected: Int) {
        #expect(DescriptorLimit.transfers(asked: asked, descriptors: descriptors) == expected)
    }

    @Test(arguments: [(5, 16, 5), (5, 15, 4), (5, 8, 1), (5, 2, 1), (100, 64, 100), (100, 63, 28)])
    func threadsLimitTransfers(asked: Int, threads: Int, expected: Int) {
        #expect(ThreadLimit.transfers(asked: asked, threads: threads) == expected)
    }

    @Test func asManyThreadsAreTriedAsAreNeeded() {
        #expect(ThreadLimit.trial(for: 1) == ThreadLimit.minimum)
        #expect(ThreadLimit.trial(for: 5) == 16)
        #expect(ThreadLimit.trial(for: .max) == 64)
    }
}
