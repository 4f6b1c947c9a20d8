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
            ProgressScreen(columns: 80).line(batch).plain
                == "[3/10]  12.4 MiB of 40.0 MiB  31%  4.1 MiB/s  6s left"
        )
        var unknown = batch
        (unknown.expected, unknown.timeLeft) = (nil, nil)
        #expect(ProgressScreen(columns: 80).line(unknown).plain == "[3/10]  12.4 MiB  4.1 MiB/s")
    }

    @Test(arguments: [
        (42, "[3/10]  12.4 MiB of 40.0 MiB  31%"), (20, "[3/10]  31%  6s left"), (10, "[3/10]"), (5, "[…]"),
    ])
    func theLineOfTheBatchLeavesOutWhatDoesNotFit(columns: Int, expected: String) {
        let line = ProgressScreen(columns: columns).line(batch).plain
        #expect(DisplayText(line).width < columns)
        if columns != 20 && columns != 5 { #expect(line == expected) }
    }

    @Test func aTransferHasALineAtEveryWidth() {
        let transfer = transfers[0]
        func line(_ columns: Int) -> String? {
            ProgressScreen(columns: columns, longestName: 31).lines([transfer], batch).first?.plain
        }
        #expect(
            line(100)
                == "debian-13.1.0-amd64-netinst.iso  [=======>           ]   41%   270.0 MiB    11.2 MiB/s     35s"
        )
        #expect(
            line(120)
                == "debian-13.1.0-amd64-netinst.iso  [=========>             ]   41%   270.0 MiB   of 654.0 MiB"
                + "    11.2 MiB/s     35s"
        )
        #expect(line(80) == "debian-13.…tinst.iso  [======>        ]   41%   270.0 MiB    11.2 MiB/s     35s")
        #expect(line(40) == "debian-13.…etinst.iso   41%   270.0 MiB")
        #expect(line(20) == "debian…st.iso   41%")
        #expect(line(10) == "d…o   41%")
    }

    @Test func withoutATotalANarrowLineHasTheBytes() {
        #expect(
            ProgressScreen(columns: 20, longestName: 31).lines([transfers[2]], batch)[0].plain
                == "stream           1M"
        )
    }

    @Test(arguments: 1...240)
    func noLineIsEverAsWideAsTheTerminal(columns: Int) {
        for longestName in [0, 6, 31, Int.max] {
            let screen = ProgressScreen(columns: columns, longestName: longestName)
            for line in screen.lines(transfers, batch).map(\.plain) {
                #expect(DisplayText(line).width <= max(1, columns - 1))
                #expect(DisplayText(line).string == line)
            }
        }
    }

    @Test(arguments: 1...12)
    func thereAreNeverMoreLinesThanRows(rows: Int) {
        let many = Array(repeating: transfers[0], count: 9)
        let lines = ProgressScreen(columns: 80, rows: rows).lines(many, batch).map(\.plain)
        #expect(lines.count <= max(1, rows - 1))
        #expect(lines.last?.hasPrefix("[3/10]") == true)
        if rows == 6 { #expect(lines[3] == "… and 6 more") }
    }

    @Test func aPausedTransferSaysSoAtEveryWidth() {
        var (transfer, paused) = (transfers[0], batch)
        (transfer.isPaused, paused.isPaused, paused.hint) = (true, true, "p resumes, q stops")
        func lines(_ columns: Int) -> [String] {
            ProgressScreen(columns: columns, longestName: 31).lines([transfer], paused).map(\.plain)
        }
        #expect(
            lines(80) == [
                "debian-13.…tinst.iso  [======>        ]   41%   270.0 MiB        paused",
                "[3/10]  12.4 MiB of 40.0 MiB  31%  paused  p resumes, q stops",
            ]
        )
        #expect(
            lines(40) == [
                "debian-13.…etinst.iso   41%      paused", "[3/10]  31%  paused  p resumes, q stops",
            ]
        )
        #expect(lines(20) == ["debia…t.iso  paused", "[3/10]  31%  paused"])
        #expect(lines(12) == ["d…o  paused", "[3/10]  31%"])
        for columns in 11...240 {
            #expect(lines(columns).first?.contains("paused") == true)
            for line in lines(columns) { #expect(DisplayText(line).width < columns) }
        }
    }

    @Test func whatAnEarlierRunHadLeftLooksDifferent() {
        var transfer = transfers[0]
        transfer.resumedAt = 131 << 20
        #expect(
            ProgressScreen(columns: 80, longestName: 31).lines([transfer], batch)[0].plain
                == "debian-13.…tinst.iso  [+++===>        ]   41%   270.0 MiB    11.2 MiB/s     35s"
        )
        (transfer.resumedAt, transfer.received) = (.max, 10 << 20)
        #expect(
            ProgressScreen(columns: 80, longestName: 31).lines([transfer], batch)[0].plain
                .contains("[>              ]")
        )
    }

    @Test func aTransferThatWaitsSaysSoAtEveryWidth() {
        var transfer = transfers[0]
        transfer.waitingTime = 11.2
        func line(_ columns: Int) -> String {
            ProgressScreen(columns: columns, longestName: 31).lines([transfer], batch)[0].plain
        }
        #expect(line(80) == "debian-13.…tinst.iso  [======>        ]   41%   270.0 MiB   waiting 12s")
        #expect(line(40) == "debian-13.…etinst.iso   41%     waiting")
        #expect(line(20) == "debia….iso  waiting")
        for columns in 1...240 { #expect(DisplayText(line(columns)).width <= max(1, columns - 1)) }
        transfer.waitingTime = 7300
        #expect(line(80).hasSuffix("waiting"))
        transfer.isPaused = true
        #expect(line(80).hasSuffix("paused"))
    }

    @Test func aNameOfOneCharacterLeavesRoomForTheState() {
        let transfer = TransferState(name: "a", received: 4, expected: 10, isPaused: true)
        let line = ProgressScreen(columns: 80, longestName: 1).lines([transfer], batch)[0].plain
        #expect(line == "a  [======>        ]   40%         4 B        of 10 B        paused")
    }

    @Test func thePausedStateHasAColor() {
        var transfer = transfers[0]
        transfer.isPaused = true
        let line = ProgressScreen(columns: 40, longestName: 31).lines([transfer], batch)[0]
        #expect(line.rendered(inColor: true).hasSuffix("      \u{1B}[33mpaused\u{1B}[0m"))
        #expect(line.rendered(inColor: false) == line.plain)
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
