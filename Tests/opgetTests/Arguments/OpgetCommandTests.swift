import Foundation
import Testing

@testable import opget

@Suite struct OpgetCommandTests {
    @Test func everyOptionIsParsed() throws {
        let command = try OpgetCommand(arguments: [
            "-i", "-", "-d", "dir", "-o", "-", "-j", "9", "-H", "A: b", "-H", "C: d", "--cacert", "ca.pem",
            "--progress", "never", "--overwrite", "-q", "--color", "always", "--json", "--json-fd", "3",
            "-N", "--checksum", "x", "--checksums", "y", "-c", "-C", "-", "--no-resume", "--retry", "7",
            "--retry-max-time", "8", "--limit-rate", "9K", "--max-time", "10", "--connect-timeout", "11",
            "--timeout",
            "12", "--fail-early", "http://h/a", "http://h/b",
        ])
        #expect(command.lists == ["-"])
        #expect(command.directory == "dir")
        #expect(command.output == "-")
        #expect(command.jobs == 9)
        #expect(command.headers == ["A: b", "C: d"])
        #expect(command.certificates == "ca.pem")
        #expect(command.progress == .never)
        #expect(command.color == .always)
        #expect(command.writesEvents)
        #expect(command.eventDescriptor == 3)
        #expect(command.overwrites)
        #expect(command.isQuiet)
        #expect(command.fetchesOnlyChanges)
        #expect(command.checksum == "x")
        #expect(command.checksumList == "y")
        #expect(command.continues)
        #expect(command.continueAt == "-")
        #expect(command.startsOver)
        #expect(command.retries == 7)
        #expect(command.retryTime == "8")
        #expect(command.rate == "9K")
        #expect(command.maximumTime == "10")
        #expect(command.connectTimeout == "11")
        #expect(command.idleTimeout == "12")
        #expect(command.failsEarly)
        #expect(command.urls == ["http://h/a", "http://h/b"])
    }

    @Test(arguments: [
        ["--bogus"], ["-j", "x", "http://h"], ["--progress", "maybe"], ["--color", "x"], ["--json-fd", "x"],
        ["-o"], ["-i"],
    ])
    func refuses(arguments: [String]) {
        let error = #expect(throws: Failure.self) { try OpgetCommand(arguments: arguments) }
        #expect(error?.outcome == .usage)
    }

    @Test(
        arguments: [
            (["-j3", "-oNAME"], ["-j", "3", "-o", "NAME"]), (["-dN", "-dq"], ["-d", "N", "-d", "q"]),
            (["-qd", "N"], ["-q", "-d", "N"]), (["-qNdN"], ["-q", "-N", "-d", "N"]),
            (["-j=3", "-qd=N", "-d==x"], ["-j=3", "-q", "-d=N", "-d==x"]),
            (["-C-", "-o-x"], ["-C=-", "-o=-x"]), (["-Nq", "-qzdN"], ["-Nq", "-qzdN"]),
            (
                ["-o", "-dN", "--dir", "-dN", "--json", "-dN"],
                ["-o", "-dN", "--dir", "-dN", "--json", "-d", "N"]
            ),
            (["--dir=x", "-dN", "-", "--", "-dN"], ["--dir=x", "-d", "N", "-", "--", "-dN"]),
            (["-qo", "-dN", "-j3"], ["-q", "-o", "-dN", "-j", "3"]), (["-d\u{301}x"], ["-d", "\u{301}x"]),
            (
                ["-iL", "-HA: b", "-Ec", "-ume", "-xp"],
                ["-i", "L", "-H", "A: b", "-E", "c", "-u", "me", "-x", "p"]
            ),
        ] as [([String], [String])]
    )
    func combinedOptionsAreSplit(arguments: [String], words: [String]) {
        #expect(JoinedOptions.split(arguments, of: OpgetCommand.self) == words)
    }

    @Test func aValueMayFollowItsLetter() throws {
        let command = try OpgetCommand(arguments: ["-qj3", "-dN", "-o-x", "-C-", "-HA: b", "http://h/a"])
        #expect(command.isQuiet && command.jobs == 3 && command.continueAt == "-")
        #expect(command.directory == "N" && command.output == "-x" && command.headers == ["A: b"])
        #expect(command.urls == ["http://h/a"])
        let assigned = try OpgetCommand(arguments: ["-qd=N", "-o=x", "http://h/a"])
        #expect(assigned.isQuiet && assigned.directory == "N" && assigned.output == "x")
    }

    @Test func helpBeginsWithExamplesAndEndsWithEveryExitCode() throws {
        let help = HelpText.text
        let examples = try #require(help.range(of: "EXAMPLES:"))
        let usage = try #require(help.range(of: "USAGE: opget"))
        let codes = try #require(help.range(of: "EXIT CODES"))
        #expect(examples.lowerBound < usage.lowerBound)
        #expect(usage.lowerBound < codes.lowerBound)
        for row in Outcome.table { #expect(help.contains(row.meaning)) }
    }

    @Test func helpIsNoWiderThan98Columns() {
        for line in HelpText.text.split(separator: "\n") {
            #expect(DisplayText(String(line)).width <= 98, "\(line)")
        }
    }

    @Test func helpNamesEveryOption() {
        for option in [
            "--checksum", "--checksums", "--retry", "--retry-max-time", "--limit-rate", "--max-time",
            "--timestamping",
            "--connect-timeout", "--timeout", "--overwrite", "--continue", "--continue-at", "--no-resume",
            "--fail-early",
        ] {
            #expect(HelpText.text.contains(option + " ") || HelpText.text.contains(option + "\n"))
        }
    }
}
