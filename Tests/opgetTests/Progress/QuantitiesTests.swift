import Testing

@testable import opget

@Suite struct QuantitiesTests {
    @Test(
        arguments: [
            (0, "0 B", "0B"), (1023, "1023 B", "1K"), (1024, "1.0 KiB", "1K"),
            (1_048_524, "1023.9 KiB", "1M"),
            (1_048_525, "1.0 MiB", "1M"), (13_002_342, "12.4 MiB", "12M"), (-5, "0 B", "0B"),
            (1 << 40, "1.0 TiB", "1T"), (.max, "8.0 EiB", "8E"),
        ] as [(Int64, String, String)]
    )
    func bytesAreReadable(bytes: Int64, text: String, shortText: String) {
        #expect(ByteCount(bytes).text == text)
        #expect(ByteCount(bytes).shortText == shortText)
    }

    @Test func textsStayInTheirColumns() {
        var bytes: Int64 = 1
        while bytes < .max / 3 {
            #expect(ByteCount(bytes).text.count <= 10)
            #expect(ByteCount(bytes).shortText.count <= 4)
            bytes = bytes * 3 / 2 + 1
        }
    }

    @Test(arguments: [
        (0, "0s"), (0.2, "1s"), (59, "59s"), (59.5, "1m00s"), (65, "1m05s"), (3600, "1h00m"), (7384, "2h03m"),
        (90000, "1d01h"), (1e9, ">99d"), (.infinity, ">99d"), (-1, "0s"),
    ])
    func timesAreReadable(seconds: Double, text: String) {
        #expect(TimeSpan(seconds: seconds).text == text)
        #expect(text.count <= 6)
    }

    @Test(arguments: [(0.04, "0.0s"), (3.18, "3.1s"), (9.99, "9.9s"), (10, "10s"), (61, "1m01s")])
    func elapsedTimesCountTenthsAtFirst(seconds: Double, text: String) {
        #expect(TimeSpan(elapsed: seconds).text == text)
    }
}
