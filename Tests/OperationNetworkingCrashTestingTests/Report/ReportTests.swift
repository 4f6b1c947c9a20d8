import Testing

@testable import OperationNetworkingCrashTesting

struct ReportTests {
    @Test(arguments: [
        (1.0, 3, "1.000"), (1.0499, 2, "1.05"), (0.0625, 2, "0.06"), (12.96, 1, "13.0"), (2.4, 0, "2"),
    ])
    func numbersAreRounded(number: Double, digits: Int, text: String) {
        #expect(number.rounded(to: digits) == text)
    }

    @Test func theNamesOfServersDiffer() {
        #expect(Set(ServerKind.all.map(\.name)).count == ServerKind.all.count)
        #expect(ServerKind.strongTag.name == "strong-etag")
    }
}
