import Foundation
import Testing

/// The tables of `Migration.md` have each public symbol of AFNetworking 2.7, and name what the library has.
///
/// `Tests/AFNetworkingSymbols.txt` lists the symbols: a class or a constant on a line of its own, a member
/// after its class. In the tables the members of a class follow it.
@Suite struct MigrationGuideTests {
    private struct Row {
        let symbols: [String]
        let here: String
    }

    private let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private let chapter: Substring
    private let symbols: [String]

    init() throws {
        let guide = try String(contentsOf: package.appendingPathComponent("Migration.md"), encoding: .utf8)
        let start = try #require(guide.range(of: "\n## The symbols of AFNetworking 2.7\n")).upperBound
        let end = guide[start...].range(of: "\n## ")?.lowerBound ?? guide.endIndex
        chapter = guide[start..<end]
        let list = package.appendingPathComponent("Tests/AFNetworkingSymbols.txt")
        symbols = try String(contentsOf: list, encoding: .utf8).split(separator: "\n")
            .map(String.init).filter { !$0.hasPrefix("#") }
    }

    private static func codes(in cell: Substring) -> [String] {
        cell.matches(of: #/`([^`]+)`/#).map { String($0.1) }
    }

    private var rows: [Row] {
        let alone = Set(symbols.filter { !$0.contains(" ") })
        var owner = ""
        return chapter.matches(of: #/\n\| (`[^|]+) \| ([^|]+) \|/#).map { match in
            let symbols = Self.codes(in: match.1).map { code in
                guard alone.contains(code) else { return "\(owner) \(code)" }
                owner = code
                return code
            }
            return Row(symbols: symbols, here: String(match.2))
        }
    }

    @Test func everySymbolHasOneRow() {
        let named = rows.flatMap(\.symbols)
        #expect(symbols.count > 250 && Set(symbols).count == symbols.count)
        #expect(Set(symbols).subtracting(named).isEmpty)
        #expect(Set(named).subtracting(symbols).isEmpty)
        #expect(Set(named).count == named.count)
    }

    @Test func everyRowSaysWhatItIsHereOrWhyNot() {
        for row in rows {
            let isNamed = row.here.contains("`") || row.here.contains("the same")
            #expect(isNamed || row.here.contains(": "), "\(row.symbols): \(row.here)")
        }
    }

    /// Whatever stands as code in the right column is a word of the sources.
    @Test func everyCounterpartExists() throws {
        let foreign: Set = ["aURLCredential", "NSURLSession", "SCNetworkReachabilityRef"]
        let folder = package.appendingPathComponent("Sources")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        var words: Set<Substring> = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            words.formUnion(text.split { !$0.isLetter && !$0.isNumber && $0 != "_" })
        }
        #expect(words.count > 1_000)
        for row in rows {
            for code in Self.codes(in: Substring(row.here)) {
                let names = code.matches(of: #/[A-Za-z_]\w\w+/#).map(\.0)
                for name in names where !foreign.contains(String(name)) && !words.contains(name) {
                    Issue.record("\(row.symbols): \(code)")
                }
            }
        }
    }
}
