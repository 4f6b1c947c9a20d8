import OperationNetworkingSystem
import Testing

@testable import OperationNetworking

@Suite struct ProgressMeterTests {
    private let start = MonotonicTime(seconds: 100)

    @Test func reportsAtMostTwentyTimesASecondAndTheLastValueAlways() {
        var meter = ProgressMeter()
        meter.expected = 1000
        var reports: [ProgressReport] = []
        for step in 0..<1000 {
            if let report = meter.add(1, now: start + Double(step) / 1000) { reports.append(report) }
        }
        #expect(reports.count <= 21)
        if let last = meter.finish(now: start + 1) { reports.append(last) }
        #expect(reports.last?.total == 1000)
        #expect(reports.reduce(0) { $0 + $1.bytes } == 1000)
        #expect(reports.allSatisfy { $0.expected == 1000 })
        #expect(meter.finish(now: start + 2) == nil)
    }

    @Test func reportsLaterWhatCameTooSoon() {
        var meter = ProgressMeter()
        #expect(!meter.isBehind && meter.catchUp(now: start) == nil)
        let reported = [
            meter.add(600, now: start), meter.add(300, now: start + 0.01), meter.add(50, now: start + 0.02),
        ]
        #expect(reported.map { $0?.total } == [600, nil, nil] && meter.isBehind)
        // Another report came in between: it is too soon, and still to be delivered.
        #expect(meter.catchUp(now: start + 0.04) == nil && meter.isBehind)
        #expect(
            meter.catchUp(now: start + 0.07) == ProgressReport(bytes: 350, total: 950, expected: -1)
        )
        #expect(!meter.isBehind && meter.catchUp(now: start + 1) == nil)
        meter.restart(at: 0)
        _ = meter.add(500, now: start + 2)
        #expect(!meter.isBehind && meter.catchUp(now: start + 3) == nil)
    }

    @Test func countsWhatWasThereBeforeAResumption() {
        var meter = ProgressMeter()
        _ = meter.add(600, now: start)
        meter.restart(at: 600)
        #expect(meter.add(100, now: start + 1)?.total == 700)
    }

    @Test func reportsNothingAfterARestartUntilItExceedsItsLastReport() {
        var meter = ProgressMeter()
        #expect(meter.add(600, now: start)?.total == 600)
        meter.restart(at: 0)
        #expect(meter.add(500, now: start + 1) == nil)
        #expect(meter.add(200, now: start + 2)?.total == 700)
    }

    @Test func theLastReportIsCorrectEvenIfItIsSmaller() {
        var meter = ProgressMeter()
        _ = meter.add(600, now: start)
        meter.restart(at: 0)
        _ = meter.add(100, now: start + 1)
        #expect(meter.finish(now: start + 2)?.total == 100)
    }
}
