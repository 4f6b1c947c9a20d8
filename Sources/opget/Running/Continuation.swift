import Foundation

/// The advice on how to go on after a run was stopped. It has to be true.
struct Continuation: Hashable, Sendable {
    /// Longer commands are not repeated.
    private static let longestCommand = 500
    /// More files than these are not named.
    private static let mostFiles = 10

    /// The command as it was typed, its name first.
    let arguments: [String]
    /// Whether a list came from standard input, or from another place that is empty now (``InputFile``).
    var readsInput = false
    /// Whether any other file did, such as one of a shell's `<(...)`: its name means nothing any more.
    var readsPipes = false
    /// Whether the body or the events went to a descriptor that the caller had opened for this run, such as
    /// one of a shell's `>(...)`: its number means nothing any more.
    var usesDescriptors = false
    /// Whether existing files are fetched again.
    var replacesFiles = false
    /// Whether `--no-resume` threw away what earlier runs had left: what came since need not be.
    var startsOver = false
    /// Whether the body went to standard output.
    var writesOutput = false
    /// Whether a part was asked for: that is never continued.
    var asksForRange = false
    /// The options without which another link would not do: those that are no secret, as they are typed.
    var linkOptions: [String] = []
    /// Whether there are others, such as header fields, which may be secret.
    var hasMoreLinkOptions = false

    /// The advice after a run of `items` was stopped: what happens to files, then the command in a line of
    /// its own if it can be repeated.
    func lines(after kept: KeptParts, items: Int) -> [String] {
        let purpose =
            if writesOutput || asksForRange || kept.startOver && items == 1 {
                "To fetch it from the beginning"
            } else if replacesFiles {
                "To go on (with --overwrite, complete files are fetched again, too)"
            } else if kept.startOver {
                "To go on with the other files"
            } else {
                "To go on where it stopped"
            }
        if let command { return kept.warnings + [purpose + ":", "  " + command] }
        let condition = startsOver ? " without --no-resume" : ""
        let list = readsInput ? " with the same list." : "."
        return kept.warnings + [purpose + ", run the same command again" + condition + list]
    }

    /// The advice after failures that left these.
    func advice(afterFailures kept: KeptParts) -> [String] {
        kept.stuck.prefix(Self.mostFiles).compactMap(sentence) + sameCommand(afterFailures: kept)
    }

    private func sentence(_ prospect: KeptParts.Prospect) -> String? {
        switch prospect {
        case .needsLink(let path):
            let more = hasMoreLinkOptions ? ", with the same header fields, credentials and proxy" : ""
            let command = ["opget"] + linkOptions.map(Self.quoted) + ["-o", Self.quoted(path), "NEWLINK"]
            return "What came of \(path) is kept: ask for a fresh link, then\(more): "
                + command.joined(separator: " ")
        case .needsSameLink(let path):
            return
                "What came of \(path) is kept, and goes on by the same link alone: the server names no ETag."
        case .hasOtherChecksum(let path):
            return
                "What came of \(path) is kept, but the server's file has another checksum than the one given."
        case .goesOn, .startsOver:
            return nil
        }
    }

    private func sameCommand(afterFailures kept: KeptParts) -> [String] {
        guard kept.continuable > 0 else { return kept.warnings }
        let condition = startsOver ? "without --no-resume, " : ""
        let sentence =
            KeptParts.subject(kept.continuable) + " is kept: \(condition)the same command goes on from there."
        return kept.warnings + [sentence]
    }

    /// The command, quoted for a shell; `nil` if it is too long, says not everything, or holds what others
    /// must not see.
    var command: String? {
        guard !readsInput, !readsPipes, !usesDescriptors, !holdsSecrets else { return nil }
        let text = arguments.filter { $0 != "--no-resume" }.map(Self.quoted).joined(separator: " ")
        return text.count <= Self.longestCommand && DisplayText(text).string == text ? text : nil
    }

    private var holdsSecrets: Bool { !SecretArguments(arguments).isEmpty }

    private static func quoted(_ argument: String) -> String {
        let isPlain = argument.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "-_./:=,+@%".utf8.contains(byte)
            }
        }
        if isPlain, !argument.isEmpty { return argument }
        return "'" + argument.replacingOccurrences(of: "'", with: "'\\''") + "'"
    }
}
