import Foundation

/// The advice on how to resume after a run was stopped.
struct Continuation: Hashable, Sendable {
    /// Longer commands are not shown.
    private static let longestCommand = 500
    /// Further files are not named.
    private static let mostFiles = 10

    /// The command as typed, starting with its name.
    let arguments: [String]
    /// Whether a list came from standard input, or from another source that cannot be read again
    /// (``InputFile``).
    var readsInput = false
    /// Whether any other file did, such as a shell's `<(...)`, whose name is no longer valid.
    var readsPipes = false
    /// Whether the body or the events went to a descriptor that the caller opened for this run, such as a
    /// shell's `>(...)`, whose number is no longer valid.
    var usesDescriptors = false
    /// Whether existing files are fetched again.
    var replacesFiles = false
    /// Whether `--no-resume` discarded the data of earlier runs. The data received since then can be kept.
    var startsOver = false
    /// Whether the body went to standard output.
    var writesOutput = false
    /// Whether a range was requested, which is never resumed.
    var asksForRange = false
    /// The options that another link needs as well, as typed, without secrets.
    var linkOptions: [String] = []
    /// Whether there are further ones, such as header fields, that may be secret.
    var hasMoreLinkOptions = false

    /// Returns the advice after a run of `items` was stopped: what happens to files, then the command on a
    /// separate line if it can be repeated.
    func lines(after kept: KeptParts, items: Int) -> [String] {
        let purpose =
            if writesOutput || asksForRange || kept.startOver && items == 1 {
                "To fetch it from the beginning"
            } else if replacesFiles {
                "To resume (with --overwrite, complete files are fetched again as well)"
            } else if kept.startOver {
                "To continue with the other files"
            } else {
                "To resume where it stopped"
            }
        if let command { return kept.warnings + [purpose + ":", "  " + command] }
        let condition = startsOver ? " without --no-resume" : ""
        let list = readsInput ? " with the same list." : "."
        return kept.warnings + [purpose + ", run the same command again" + condition + list]
    }

    /// Returns the advice after failures that left partial files.
    func advice(afterFailures kept: KeptParts) -> [String] {
        kept.stuck.prefix(Self.mostFiles).compactMap(sentence) + sameCommand(afterFailures: kept)
    }

    private func sentence(_ nextUse: KeptParts.NextUse) -> String? {
        switch nextUse {
        case .needsLink(let path):
            let more = hasMoreLinkOptions ? ", with the same header fields, credentials and proxy" : ""
            let command = ["opget"] + linkOptions.map(Self.quoted) + ["-o", Self.quoted(path), "NEWLINK"]
            return "The partial data of \(path) is kept: request a fresh link, then\(more): "
                + command.joined(separator: " ")
        case .needsSameLink(let path):
            return
                "The partial data of \(path) is kept, but can only be resumed with the same link: the server sends no ETag."
        case .hasOtherChecksum(let path):
            return
                "The partial data of \(path) is kept, but the server's file has a different checksum."
        case .resumes, .startsOver:
            return nil
        }
    }

    private func sameCommand(afterFailures kept: KeptParts) -> [String] {
        guard kept.continuable > 0 else { return kept.warnings }
        let condition = startsOver ? "without --no-resume, " : ""
        let sentence =
            KeptParts.subject(kept.continuable) + " is kept: \(condition)the same command resumes from there."
        return kept.warnings + [sentence]
    }

    /// The command, quoted for a shell; `nil` if it is too long, incomplete, or contains secrets.
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
