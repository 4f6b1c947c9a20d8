import OperationNetworking
import Testing

@testable import opget

/// Numbers and units in options.
@Suite struct NumberTests {
    @Test(
        arguments: [
            ("1", 1), ("800", 800), ("500K", 512_000), ("500k", 512_000), ("2M", 2_097_152),
            ("1.5M", 1_572_864),
            ("1g", 1_073_741_824), ("0.5K", 512), ("1.9", 1),
        ] as [(String, Int64)]
    )
    func aRateIsInBytesPerSecond(text: String, expected: Int64) throws {
        #expect(try ByteRate(text, of: "--limit-rate").bytesPerSecond == expected)
    }

    @Test(arguments: [
        "", "fast", "-1", "1KB", "K", "1 K", ".5", "1.", "1e3", "0x10", "inf", "nan", "1T", "+1", "1,5M", "١",
    ])
    func anInvalidRateIsRefusedWithASentence(text: String) {
        let error = #expect(throws: Failure.self) { try ByteRate(text, of: "--limit-rate") }
        #expect(error?.outcome == .usage)
        #expect(error?.sentence.hasPrefix("--limit-rate needs bytes per second") == true)
        #expect(error?.sentence.hasSuffix("not \(text.debugDescription).") == true)
    }

    @Test(arguments: ["0", "0.5", "0K", "99999999999999999999G"])
    func anImpossibleRateIsRefused(text: String) {
        #expect(throws: Failure.self) { try ByteRate(text, of: "--limit-rate") }
    }

    @Test(arguments: [("30", 30), ("0.5", 0.5), ("0.001", 0.001), ("1000000000", 1e9)] as [(String, Double)])
    func aTimeIsInSeconds(text: String, expected: Double) throws {
        #expect(try Seconds(text, of: "--max-time").value == expected)
    }

    @Test(arguments: ["", "soon", "-1", "1m", "0", "0.0001", "1e3", "inf", "1.", "1000000001"])
    func anInvalidTimeIsRefusedWithASentence(text: String) {
        let error = #expect(throws: Failure.self) { try Seconds(text, of: "--max-time") }
        #expect(error?.outcome == .usage)
        #expect(error?.sentence.hasPrefix("--max-time needs ") == true)
    }

    private func settings(_ arguments: String...) throws -> Settings {
        let command = try OpgetCommand(arguments: arguments + ["http://h/a"])
        return try Settings(command, environment: [:], descriptors: 1024)
    }

    @Test func optionsBecomeSettings() throws {
        let settings = try settings(
            "--retry",
            "2",
            "--retry-max-time",
            "9",
            "--limit-rate",
            "1K",
            "--max-time",
            "10",
            "--connect-timeout",
            "1.5",
            "--timeout",
            "7",
            "-N",
            "--no-resume",
            "--fail-early"
        )
        #expect(settings.retryPolicy.maximumRetries == 2)
        #expect(settings.retryPolicy.timeBudget == 9)
        #expect(settings.limit?.bytesPerSecond == 1024)
        #expect(settings.maximumTime == 10)
        #expect(settings.connectTimeout == 1.5)
        #expect(settings.idleTimeout == 7)
        #expect(settings.fetchesOnlyChanges && settings.startsOver && settings.failsEarly)
    }

    @Test func unlessSetThereAreFiveRetriesAndNoLimits() throws {
        let settings = try settings()
        #expect(settings.retryPolicy.maximumRetries == 5)
        #expect(settings.retryPolicy.timeBudget == nil)
        #expect(settings.limit == nil)
        #expect(settings.maximumTime == nil)
        #expect(settings.connectTimeout == nil)
        #expect(settings.idleTimeout == 60)
    }

    @Test(arguments: [
        ["-N", "--overwrite"], ["-N", "-o", "-"], ["--no-resume", "-c"], ["--no-resume", "-C", "-"],
        ["-C", "5"],
        ["--timeout", "0"], ["--connect-timeout", "x"], ["--retry-max-time", "0"], ["--limit-rate", "0"],
    ])
    func invalidSettingsAreRefused(arguments: [String]) throws {
        let command = try OpgetCommand(arguments: arguments + ["http://h/a"])
        let error = #expect(throws: Failure.self) {
            try Settings(command, environment: [:], descriptors: 1024)
        }
        #expect(error?.outcome == .usage)
    }
}
