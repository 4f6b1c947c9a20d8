import ArgumentParser
import OperationNetworking
import Testing

@testable import opget

@Suite struct ContinuationTests {
    private func command(_ arguments: String...) -> String? {
        Continuation(arguments: ["opget"] + arguments).command
    }

    private func kept(_ continuable: Int, _ obstacles: RestartReason...) -> KeptParts {
        var kept = KeptParts()
        for _ in 0..<continuable { kept.add(.resumes) }
        for reason in obstacles { kept.add(.startsOver(reason)) }
        return kept
    }

    private func lines(_ continuation: Continuation, _ kept: KeptParts = KeptParts(), items: Int = 1)
        -> [String]
    {
        continuation.lines(after: kept, items: items)
    }

    @Test func theCommandIsQuotedForAShell() {
        #expect(command("-d", "down", "http://h/a") == "opget -d down http://h/a")
        #expect(command("http://h/a?b=c&d", "-d", "") == "opget 'http://h/a?b=c&d' -d ''")
        #expect(command("-o", "it's", "http://h/{1..3}") == "opget -o 'it'\\''s' 'http://h/{1..3}'")
        #expect(command("-i", "日本.txt") == "opget -i '日本.txt'")
    }

    @Test func secretsAreNotRepeated() {
        #expect(command("http://user:pass@h/a") == nil)
        #expect(command("http://user@h") == nil)
        #expect(command("http://h/a@b") == "opget http://h/a@b")
        #expect(command("-H", "Authorization: Basic eA==", "http://h/a") == nil)
        #expect(command("-HCookie: a", "http://h/a") == nil)
        #expect(command("--header=X: y", "http://h/a") == nil)
    }

    @Test func commandsThatDiscardBytesAreNotSuggested() {
        #expect(command("--no-resume", "http://h/a") == "opget http://h/a")
        var continuation = Continuation(arguments: ["opget", "http://h/a"])
        #expect(
            continuation.advice(afterFailures: kept(1))
                == ["The partial data of one file is kept: the same command resumes from there."]
        )
        continuation.startsOver = true
        #expect(
            continuation.advice(afterFailures: kept(2))
                == [
                    "The partial data of 2 files is kept: without --no-resume, the same command resumes from there."
                ]
        )
        #expect(continuation.advice(afterFailures: kept(0)) == [])
    }

    @Test func unresumablePartsAreNotReportedAsResumable() {
        let continuation = Continuation(arguments: ["opget", "http://h/a"])
        let warning =
            "The partial data of one file is kept, but the server gives no proof that the file is still the same: "
            + "the same command starts over."
        #expect(continuation.advice(afterFailures: kept(0, .validatorMissing)) == [warning])
        #expect(
            continuation.advice(afterFailures: kept(1, .validatorMissing, .rangesRefused, .rangesRefused))
                == [
                    "The partial data of 2 files is kept, but the server does not serve parts of files: "
                        + "the same command starts over.",
                    warning, "The partial data of one file is kept: the same command resumes from there.",
                ]
        )
        #expect(
            continuation.advice(afterFailures: kept(0, .checkpointUnproven))
                == [
                    "The partial data of one file is not kept: the file system could not show later that it is yours."
                ]
        )
        // After a signal.
        let command = "  opget http://h/a"
        #expect(
            lines(continuation, kept(0, .validatorMissing))
                == [warning, "To fetch it from the beginning:", command]
        )
        #expect(
            lines(continuation, kept(0, .validatorMissing), items: 2)
                == [warning, "To continue with the other files:", command]
        )
        #expect(
            lines(continuation, kept(1, .validatorMissing), items: 2)
                == [warning, "To resume where it stopped:", command]
        )
    }

    @Test func anotherLinkGetsWhatTheRunHad() throws {
        var kept = KeptParts()
        kept.add(.needsLink("a b"))
        var continuation = Continuation(arguments: ["opget", "http://h/a"])
        #expect(
            continuation.advice(afterFailures: kept)
                == ["The partial data of a b is kept: request a fresh link, then: opget -o 'a b' NEWLINK"]
        )
        var dated = KeptParts()
        dated.add(.needsSameLink("a"))
        #expect(
            continuation.advice(afterFailures: dated)
                == [
                    "The partial data of a is kept, but can only be resumed with the same link: "
                        + "the server sends no ETag."
                ]
        )
        let typed = try OpgetCommand.parse([
            "-N", "--insecure", "--cacert", "my ca.pem", "--proxy", "http://u:p@h", "-H", "X: y",
            "http://h/a",
        ])
        continuation.linkOptions = typed.linkOptions
        continuation.hasMoreLinkOptions = typed.hasMoreLinkOptions
        for option in [["-x", "http://u:p@h"], ["-u", "a:b"], ["-n"], ["-H", "X: y"]] {
            #expect(try OpgetCommand.parse(option + ["http://h/a"]).hasMoreLinkOptions)
        }
        #expect(try !OpgetCommand.parse(["-x", "http://h", "-N", "http://h/a"]).hasMoreLinkOptions)
        #expect(
            continuation.advice(afterFailures: kept)
                == [
                    "The partial data of a b is kept: request a fresh link, then, with the same header fields, "
                        + "credentials and proxy: opget -N --insecure --cacert 'my ca.pem' -o 'a b' NEWLINK"
                ]
        )
    }

    @Test func aRangeIsNotReportedAsResumable() {
        var continuation = Continuation(arguments: ["opget", "-H", "Range: bytes=0-9", "http://h/a"])
        continuation.asksForRange = true
        #expect(lines(continuation).first?.hasPrefix("To fetch it from the beginning") == true)
    }

    @Test func whatCannotBeTypedAgainIsNotRepeated() {
        #expect(command("http://h/" + String(repeating: "a", count: 600)) == nil)
        #expect(command("-o", "a\u{1B}[2J", "http://h/a") == nil)
        #expect(Continuation(arguments: ["opget", "-i", "-"], readsInput: true).command == nil)
        let piped = Continuation(
            arguments: ["opget", "--cacert", "/dev/fd/9", "http://h/a"],
            readsPipes: true
        )
        #expect(lines(piped) == ["To resume where it stopped, run the same command again."])
    }

    @Test func descriptorsOfTheCallerAreNotRepeated() {
        var continuation = Continuation(
            arguments: ["opget", "--json-fd", "7", "http://h/a"],
            usesDescriptors: true
        )
        #expect(lines(continuation) == ["To resume where it stopped, run the same command again."])
        continuation.startsOver = true
        #expect(lines(continuation)[0].hasSuffix(", run the same command again without --no-resume."))
    }

    @Test func whatIsSaidIsTrueOfTheFiles() {
        var continuation = Continuation(arguments: ["opget", "http://h/a"])
        #expect(
            lines(continuation) == [
                "To resume where it stopped:", "  opget http://h/a",
            ]
        )
        continuation.replacesFiles = true
        #expect(lines(continuation)[0].contains("fetched again"))
        continuation.writesOutput = true
        #expect(lines(continuation)[0] == "To fetch it from the beginning:")
        continuation = Continuation(arguments: ["opget", "-i", "-"], readsInput: true)
        #expect(
            lines(continuation) == [
                "To resume where it stopped, run the same command again with the same list."
            ]
        )
    }
}
