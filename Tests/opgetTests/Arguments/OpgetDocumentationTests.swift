import Foundation
import Testing

@testable import opget

/// `Documentation/Opget.md` and the program agree: options, keys, variables, exit codes.
@Suite struct OpgetDocumentationTests {
    /// A row of a table: its cells, without the marks of code.
    private struct Row {
        let cells: [String]
        var name: String { cells[0] }
    }

    /// The rows of each chapter's tables, without their heads.
    private let chapters: [String: [Row]]

    init() throws {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let page = package.appendingPathComponent("Documentation/Opget.md")
        var chapters: [String: [Row]] = [:]
        var chapter = ""
        var isInTable = false
        for line in try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n") {
            if line.hasPrefix("## ") { chapter = String(line.dropFirst(3)) }
            if line.hasPrefix("|--") {
                isInTable = true
            } else if !line.hasPrefix("|") {
                isInTable = false
            } else if isInTable {
                let cells = line.components(separatedBy: "|").dropFirst().dropLast()
                    .map { $0.replacing("`", with: "").trimmingCharacters(in: .whitespaces) }
                chapters[chapter, default: []].append(Row(cells: cells))
            }
        }
        self.chapters = chapters
    }

    private func rows(_ chapter: String) throws -> [Row] { try #require(chapters[chapter]) }

    /// The paragraph of the help that begins with this.
    private func help(_ heading: String) throws -> Substring {
        let text = HelpText.text
        let start = try #require(text.range(of: heading)).upperBound
        let end = text[start...].range(of: "\n\n")?.lowerBound ?? text.endIndex
        return text[start..<end]
    }

    /// As the page writes them, `-j, --jobs N`, with what the help says of each.
    private var options: [(name: String, text: String)] {
        get throws {
            var options: [(name: String, text: String)] = []
            for line in try help("\nOPTIONS:").split(separator: "\n") {
                if let match = line.wholeMatch(of: #/ {2}(-[^ ].*?)(?: {2,}| (?=[A-Z])|$)(.*)/#) {
                    let name = String(match.1).replacing(#/<(.*)>/#) { $0.1.uppercased() }
                    options.append((name: name, text: String(match.2)))
                } else if !options.isEmpty {
                    options[options.count - 1].text += " " + line.trimmingCharacters(in: .whitespaces)
                }
            }
            return options
        }
    }

    @Test func everyOptionIsARowAndEveryRowAnOption() throws {
        let names = try options.map(\.name)
        #expect(names.count >= 40)
        #expect(try rows("Options").map(\.name) == names)
    }

    @Test func everyDefaultOfTheHelpIsInItsRow() throws {
        var count = 0
        for (option, row) in zip(try options, try rows("Options")) {
            guard let match = option.text.firstMatch(of: #/default: (\w+)\)/#) else { continue }
            count += 1
            #expect(row.cells[1].contains("(default: \(match.1))"), "\(row.name)")
        }
        #expect(count == 5)
    }

    @Test func everyExitCodeIsARowWithTheSameMeaning() throws {
        var table: [(code: String, meaning: String)] = []
        for row in Outcome.table {
            if row.code.isEmpty {
                table[table.count - 1].meaning += " " + row.meaning
            } else {
                table.append(row)
            }
        }
        let rows = try rows("Exit codes")
        #expect(rows.map(\.name) == table.map(\.code))
        #expect(rows.map { $0.cells[1] } == table.map(\.meaning))
    }

    @Test func everyOutcomeHasItsCodeInTheTable() throws {
        let codes = try rows("Exit codes").map(\.name)
        let outcomes: [Outcome] = [
            .success, .other, .usage, .file, .network, .tls, .authorization, .wrongAnswer, .server,
            .checksum, .diskFull, .exists,
        ]
        #expect(Set(codes) == Set(outcomes.map { "\($0.code)" } + ["128+n"]))
    }

    @Test func everyKeyIsARow() throws {
        let keys = try help("KEYS,").matches(of: #/\n {2}(\S+) {2,}/#).map { String($0.1) }
        #expect(keys.count == 3)
        #expect(try rows("In a terminal").map(\.name) == keys)
    }

    @Test func everyVariableIsInARow() throws {
        let names = try rows("Environment").flatMap { $0.name.components(separatedBy: ", ") }
        let text = try help("\nENVIRONMENT:") + help("\nSECRETS:")
        let used = text.matches(of: #/\b([A-Z]+(?:_[A-Z]+)+|[a-z]+_proxy|COLUMNS|TERM|CI)\b/#)
            .map { String($0.1) }
        #expect(Set(names) == Set(used))
        #expect(Set(names).count == names.count)
    }
}
