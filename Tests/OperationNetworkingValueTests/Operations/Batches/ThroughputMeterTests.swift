import OperationNetworking
import Testing

@testable import OperationNetworkingTestSupport

@Suite struct ThroughputMeterTests {
    @Test func thereIsNoSpeedAtFirst() {
        var meter = ThroughputMeter(now: 10)
        #expect(meter.speed == nil)
        meter.record(total: 1000, now: 10.1)
        #expect(meter.speed == nil)
        #expect(meter.timeLeft(expected: 2000) == nil)
    }

    @Test func aSteadyTransferHasItsSpeedFromTheBeginning() throws {
        var meter = ThroughputMeter(now: 0)
        for tick in 1...50 {
            meter.record(total: Int64(tick) * 100, now: Double(tick) / 10)
            guard tick >= 3 else { continue }
            #expect(abs(try #require(meter.speed) - 1000) < 1)
        }
        #expect(abs(try #require(meter.timeLeft(expected: 15000)) - 10) < 0.1)
    }

    @Test func recentBytesCountMost() throws {
        var meter = ThroughputMeter(now: 0)
        for second in 1...10 { meter.record(total: Int64(second) * 1000, now: Double(second)) }
        for second in 11...20 { meter.record(total: 10000 + Int64(second - 10) * 100, now: Double(second)) }
        let speed = try #require(meter.speed)
        #expect(speed > 100)
        #expect(speed < 200)
    }

    @Test func theSpeedOfAStalledTransferBecomesUnknown() throws {
        var meter = ThroughputMeter(now: 0)
        meter.record(total: 1000, now: 1)
        meter.record(total: 1000, now: 4)
        #expect(try #require(meter.speed) < 500)
        meter.record(total: 1000, now: 100)
        #expect(meter.timeLeft(expected: 2000) == nil)
    }

    @Test func startingOverIsNotANegativeSpeed() throws {
        var meter = ThroughputMeter(now: 0)
        meter.record(total: 1000, now: 1)
        meter.record(total: 0, now: 2)
        #expect(try #require(meter.speed) > 0)
    }

    @Test func timeThatIsSkippedDoesNotCount() throws {
        var meter = ThroughputMeter(now: 0)
        for tick in 1...10 { meter.record(total: Int64(tick) * 100, now: Double(tick) / 10) }
        let before = try #require(meter.speed)
        meter.skip(to: 100)
        #expect(meter.speed == before)
        meter.record(total: 1100, now: 100.1)
        #expect(abs(try #require(meter.speed) - 1000) < 1)
    }

    @Test func theSameTimeTwiceChangesNothing() {
        var meter = ThroughputMeter(now: 0)
        meter.record(total: 1000, now: 1)
        let before = meter
        meter.record(total: 2000, now: 1)
        #expect(meter == before)
    }

    @Test func withoutATotalThereIsNoTimeLeft() {
        var meter = ThroughputMeter(now: 0)
        meter.record(total: 1000, now: 1)
        #expect(meter.timeLeft(expected: nil) == nil)
        #expect(meter.timeLeft(expected: 500) == nil)
        #expect(meter.timeLeft(expected: 1000) == 0)
    }
}
