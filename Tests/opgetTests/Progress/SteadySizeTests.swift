import Testing

@testable import opget

@Suite struct SteadySizeTests {
    private func steadiness(_ observations: [(columns: Int?, rows: Int?, now: Double)]) -> [Bool] {
        var size = SteadySize()
        return observations.map { size.observe(columns: $0.columns, rows: $0.rows, now: $0.now) }
    }

    @Test func theFirstSizeIsSteady() {
        #expect(steadiness([(80, 24, 5), (80, 24, 5.1)]) == [true, true])
    }

    @Test func aChangeIsWaitedOut() {
        let observations = [
            (80, 24, 5), (79, 24, 6), (79, 24, 6.2), (79, 23, 6.25), (79, 23, 6.5), (79, 23, 6.6),
        ]
        #expect(steadiness(observations) == [true, false, false, false, false, true])
    }

    @Test func aTerminalThatDoesNotReportItsSizeIsSteady() {
        #expect(steadiness([(nil, nil, 5), (nil, nil, 5.1)]) == [true, true])
    }
}
