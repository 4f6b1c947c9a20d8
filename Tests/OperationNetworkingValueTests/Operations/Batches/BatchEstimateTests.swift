import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct BatchEstimateTests {
    @Test func knownSizesAreExact() {
        var estimate = BatchEstimate(count: 2)
        #expect(estimate.confidence == .unknown && estimate.total == nil && estimate.fraction == 0)
        estimate.begin(0, at: 0, length: 100)
        estimate.begin(1, at: 0, length: 300)
        estimate.download(0, total: 100, length: 100)
        #expect(estimate.confidence == .exact && estimate.total == 400 && estimate.fraction == 0.25)
        #expect(estimate.units == (100, 400))
        estimate.finish(0)
        estimate.download(1, total: 300, length: 300)
        #expect(estimate.fraction < 1, "Not before all have ended")
        estimate.finish(1)
        #expect(estimate.fraction == 1 && estimate.units == (400, 400))
    }

    @Test func unknownSizesAreTakenToBeTheMeanOfTheOthers() {
        var estimate = BatchEstimate(count: 4)
        estimate.begin(0, at: 0, length: 100)
        estimate.begin(1, at: 0, length: 300)
        #expect(estimate.total == 800 && estimate.confidence == .estimated)
        estimate.finish(0)
        estimate.download(1, total: 300, length: 300)
        estimate.finish(1)
        // The first ended with nothing: what came is its size.
        #expect(estimate.total == 600)
    }

    @Test func membersAreCountedWhileNoSizeIsKnown() {
        var estimate = BatchEstimate(count: 4)
        estimate.begin(0, at: 0, length: -1)
        estimate.download(0, total: 50, length: -1)
        #expect(estimate.confidence == .unknown && estimate.total == nil)
        estimate.finish(1)
        #expect(estimate.fraction == 0.25 && estimate.units == (1, 4))
        #expect(estimate.moved == 50)
    }

    @Test func bytesThatWereThereCountAsDone() {
        var estimate = BatchEstimate(count: 1)
        estimate.begin(0, at: 60, length: 100)
        #expect(estimate.fraction == 0.6 && estimate.confidence == .exact)
    }

    @Test func beginningAgainLowersTheConfidenceAndNotTheFraction() {
        var estimate = BatchEstimate(count: 1)
        estimate.begin(0, at: 0, length: 100)
        estimate.download(0, total: 80, length: 100)
        estimate.begin(0, at: 0, length: 100)
        #expect(estimate.fraction == 0.8 && estimate.confidence == .estimated && estimate.moved == 0)
        estimate.download(0, total: 50, length: 100)
        #expect(estimate.fraction == 0.8)
        estimate.download(0, total: 90, length: 100)
        #expect(estimate.fraction == 0.9 && estimate.confidence == .exact)
    }

    @Test func resumingIsNotANewBeginning() {
        var estimate = BatchEstimate(count: 1)
        estimate.begin(0, at: 0, length: 100)
        estimate.download(0, total: 80, length: 100)
        estimate.begin(0, at: 80, length: 100)
        #expect(estimate.fraction == 0.8 && estimate.confidence == .exact)
    }

    @Test func aLargerTotalDoesNotLowerTheFraction() {
        var estimate = BatchEstimate(count: 2)
        estimate.begin(0, at: 0, length: 100)
        estimate.download(0, total: 100, length: 100)
        #expect(estimate.fraction == 0.5)
        estimate.begin(1, at: 0, length: 10_000)
        #expect(estimate.fraction == 0.5 && estimate.units == (5050, 10_100))
    }

    @Test func whatIsSentCountsBeforeAResponseIsThere() {
        var estimate = BatchEstimate(count: 1)
        estimate.upload(0, total: 50, length: 100)
        #expect(estimate.fraction == 0.5 && estimate.confidence == .estimated)
        estimate.upload(0, total: 100, length: 100)
        estimate.begin(0, at: 0, length: 100)
        #expect(estimate.total == 200 && estimate.fraction > 0.99 && estimate.confidence == .exact)
    }

    @Test func moreThanWasAnnouncedIsCounted() {
        var estimate = BatchEstimate(count: 2)
        estimate.begin(0, at: 0, length: 10)
        estimate.download(0, total: 30, length: 10)
        estimate.finish(1)
        #expect(estimate.total == 30 && estimate.fraction < 1)
    }

    @Test func anEmptyBatchIsComplete() {
        var estimate = BatchEstimate(count: 3)
        for index in 0..<3 { estimate.finish(index) }
        #expect(estimate.fraction == 1 && estimate.units == (3, 3) && estimate.confidence == .exact)
        #expect(BatchEstimate(count: 0).units == (1, 1))
    }

    /// A server may announce what it likes.
    @Test func hugeLengthsOverflowNothing() {
        var estimate = BatchEstimate(count: 3)
        for index in 0..<3 {
            estimate.begin(index, at: 0, length: .max)
            estimate.download(index, total: .max, length: .max)
            estimate.upload(index, total: .max, length: .max)
        }
        #expect(estimate.fraction < 1)
        for index in 0..<3 { estimate.finish(index) }
        #expect(estimate.fraction == 1)
    }

    @Test func bytesFromBeforeAreNoThroughput() {
        var estimate = BatchEstimate(count: 1)
        estimate.begin(0, at: 80, length: 100)
        #expect(estimate.transferred == 0 && estimate.remaining == 20)
        estimate.download(0, total: 90, length: 100)
        #expect(estimate.transferred == 10 && estimate.remaining == 10)
    }

    /// Whatever comes in whatever order, as a server that lies would have it, too.
    @Test func theFractionGoesUpOnlyAndEndsAtOne() {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<Rounds.count(2000) {
            let count = Int.random(in: 1...6, using: &generator)
            var estimate = BatchEstimate(count: count)
            var last = 0.0
            var lastQuotient = 0.0
            for _ in 0..<60 {
                let index = Int.random(in: 0..<count, using: &generator)
                let bytes = Int64.random(in: 0...1000, using: &generator)
                let length = Int64.random(in: -1...1000, using: &generator)
                switch Int.random(in: 0..<8, using: &generator) {
                case 0..<2: estimate.begin(index, at: bytes, length: length)
                case 2..<6: estimate.download(index, total: bytes, length: length)
                case 6: estimate.upload(index, total: bytes, length: length)
                default: estimate.finish(index)
                }
                #expect(estimate.fraction >= last)
                let units = estimate.units
                #expect(units.completed >= 0 && units.completed <= units.total)
                #expect((units.completed == units.total) == estimate.hasFinished)
                let quotient = Double(units.completed) / Double(units.total)
                #expect(quotient >= lastQuotient)
                lastQuotient = quotient
                #expect(estimate.total.map { $0 >= estimate.moved } ?? true)
                last = estimate.fraction
            }
            for index in 0..<count { estimate.finish(index) }
            #expect(estimate.fraction == 1)
        }
    }
}
