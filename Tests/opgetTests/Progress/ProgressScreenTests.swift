import Testing

@testable import opget

@Suite struct ProgressScreenTests {
    private let transfers = [
        TransferState(
            name: "debian-13.1.0-amd64-netinst.iso",
            received: 270 << 20,
            expected: 654 << 20,
            speed: 11.2 * 1_048_576,
            timeLeft: 35
        ),
        TransferState(name: "日本語の長い名前のファイル.tar.gz", received: 0, expected: 0, speed: 0, timeLeft: nil),
        TransferState(name: "stream", received: 1_048_524, expected: nil, speed: 1_048_524, timeLeft: nil),
        TransferState(name: "e\u{301}\u{1B}[2J", received: .max, expected: .max, speed: 1e18, timeLeft: 1e9),
    ]
    private let batch = BatchState(
        finished: 3,
        count: 10,
        received: 13_020_000,
        expected: 40 << 20,
        speed: 4.1 * 1_048_576,
        timeLeft: 6
    )

    @Test func theBatchHasALine() {
        #expect(
            ProgressScreen(columns: 80).line(batch) == "[3/10]  12.4 MiB of 40.0 MiB  31%  4.1 MiB/s  6s left"
        )
        var unknown = batch
        (unknown.expected, unknown.timeLeft) = (nil, nil)
        #expect(ProgressScreen(columns: 80).line(unknown) == "[3/10]  12.4 MiB  4.1 MiB/s")
    }

    @Test(arguments: [
        (42, "[3/10]  12.4 MiB of 40.0 MiB  31%"), (20, "[3/10]  31%  6s left"), (10, "[3/10]"), (5, "[…]"),
    ])
    func theLineOfTheBatchLeavesOutWhatDoesNotFit(columns: Int, expected: String) {
        let line = ProgressScreen(columns: columns).line(batch)
        #expect(DisplayText(line).width < columns)
        if columns != 20 && columns != 5 { #expect(line == expected) }
    }

    @Test func aTransferHasALineAtEveryWidth() {
        let transfer = transfers[0]
        func line(_ columns: Int) -> String? {
            ProgressScreen(columns: columns, longestName: 31).lines([transfer], batch).first
        }
        #expect(
            line(100)
                == "debian-13.1.0-amd64-netinst.iso  [=======>           ]   41%   270.0 MiB    11.2 MiB/s     35s"
        )
        #expect(line(80) == "debian-13.…tinst.iso  [======>        ]   41%   270.0 MiB    11.2 MiB/s     35s")
        #expect(line(40) == "debian-13.…etinst.iso   41%   270.0 MiB")
        #expect(line(20) == "debian…st.iso   41%")
        #expect(line(10) == "d…o   41%")
    }

    @Test func withoutATotalANarrowLineHasTheBytes() {
        #expect(
            ProgressScreen(columns: 20, longestName: 31).lines([transfers[2]], batch)[0]
                == "stream           1M"
        )
    }

    @Test(arguments: 1...240)
    func noLineIsEverAsWideAsTheTerminal(columns: Int) {
        for longestName in [0, 6, 31, Int.max] {
            let screen = ProgressScreen(columns: columns, longestName: longestName)
            for line in screen.lines(transfers, batch) {
                #expect(DisplayText(line).width <= max(1, columns - 1))
                #expect(DisplayText(line).string == line)
            }
        }
    }

    @Test(arguments: 1...12)
    func thereAreNeverMoreLinesThanRows(rows: Int) {
        let many = Array(repeating: transfers[0], count: 9)
        let lines = ProgressScreen(columns: 80, rows: rows).lines(many, batch)
        #expect(lines.count <= max(1, rows - 1))
        #expect(lines.last?.hasPrefix("[3/10]") == true)
        if rows == 6 { #expect(lines[3] == "… and 6 more") }
    }

    @Test func oneItemNeedsNoLineForTheBatch() {
        var single = batch
        (single.finished, single.count) = (0, 1)
        #expect(ProgressScreen(columns: 80).lines([transfers[0]], single).count == 1)
        #expect(ProgressScreen(columns: 80).lines([], single).count == 1)
    }

    @Test(
        arguments: [
            (0, 100, 0), (99, 100, 99), (999, 1000, 99), (100, 100, 100), (150, 100, 100), (1, nil, nil),
            (0, 0, nil),
        ] as [(Int64, Int64?, Int?)]
    )
    func percentIsRoundedDown(received: Int64, expected: Int64?, percent: Int?) {
        #expect(TransferState.percent(received, expected) == percent)
    }
}
