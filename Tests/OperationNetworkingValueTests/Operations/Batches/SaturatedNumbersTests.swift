import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct SaturatedNumbersTests {
    @Test(
        arguments: [
            (1, 2, 3), (.max, 0, .max), (.max, 1, .max), (.max, .max, .max), (.min, -1, .min),
            (.min, .max, -1),
        ] as [(Int64, Int64, Int64)]
    )
    func sumsStopAtTheHighestNumber(one: Int64, other: Int64, sum: Int64) {
        #expect(one.addingSaturated(other) == sum)
    }

    @Test(
        arguments: [
            (1.9, 1), (-1.9, -1), (1e300, .max), (-1e300, .min), (.infinity, .max), (-.infinity, .min),
            (.nan, 0),
            (9_223_372_036_854_775_808, .max), (-9_223_372_036_854_775_808, .min),
        ] as [(Double, Int64)]
    )
    func numbersThatAreTooLargeAreTheHighest(number: Double, whole: Int64) {
        #expect(Int64(saturated: number) == whole)
    }

    @Test func reportsOfHighestCountsAreMerged() {
        let report = ProgressReport(bytes: .max, total: .max, expected: .max)
        #expect(report.merged(with: report).bytes == .max)
    }

    /// As a transfer reads it, which ends the body there.
    @Test(
        arguments: [
            (["5"], 5), (["5, 5"], 5), (["5", "5"], 5), (["5,5", " 5"], 5), (["5, 6"], nil),
            (["5", "6"], nil),
            (["+5"], nil), ([""], nil), (["5,"], nil), ([], nil),
        ] as [([String], Int64?)]
    )
    func aListOfEqualLengthsIsOneLength(values: [String], length: Int64?) {
        var fields = HeaderFields()
        for value in values { fields.append(name: "Content-Length", value: value) }
        #expect(fields.contentLength == length)
        #expect((try? MessageLength.declaredLength(fields)) == length)
    }
}
