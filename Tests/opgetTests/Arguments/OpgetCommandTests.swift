import Foundation
import Testing

@testable import opget

@Suite struct OpgetCommandTests {
    @Test func everyLetterIsUnderstood() throws {
        let command = try OpgetCommand(arguments: [
            "-i", "-", "-d", "dir", "-o", "-", "-j", "9", "-H", "A: b", "-H", "C: d", "--cacert", "ca.pem",
            "--progress", "never", "--overwrite", "-q", "--color", "always", "--json", "--json-fd", "3",
            "http://h/a", "http://h/b",
        ])
        #expect(command.list == "-")
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

    @Test func helpBeginsWithExamplesAndEndsWithEveryExitCode() throws {
        let help = HelpText.text
        let examples = try #require(help.range(of: "EXAMPLES:"))
        let usage = try #require(help.range(of: "USAGE: opget"))
        let codes = try #require(help.range(of: "EXIT CODES"))
        #expect(examples.lowerBound < usage.lowerBound)
        #expect(usage.lowerBound < codes.lowerBound)
        for row in Outcome.table { #expect(help.contains(row.meaning)) }
    }
}
