import Foundation
import Testing

@testable import OperationNetworkingTestSupport

/// The tables of `Migration.md` have each public symbol of AFNetworking 2.7, and name what the library declares.
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
    private let guide: String
    private let chapter: Substring
    private let symbols: [String]

    init() throws {
        guide = try String(contentsOf: package.appendingPathComponent("Migration.md"), encoding: .utf8)
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

    /// The rows of the chapters about other libraries, and about other versions of AFNetworking.
    private func otherRows(from origin: String) throws -> [Row] {
        let start = try #require(guide.range(of: "\n## From \(origin)\n")).upperBound
        let end = guide[start...].range(of: "\n## ")?.lowerBound ?? guide.endIndex
        return guide[start..<end].matches(of: #/\n\| ([^|\n]+) \| ([^|\n]+) \|/#).map { match in
            Row(symbols: [String(match.1)], here: String(match.2))
        }
    }

    private static let origins = [
        "AFNetworking 1", "AFNetworking 3 and 4", "URLSession", "Alamofire", "Nuke", "AsyncHTTPClient",
    ]

    /// The words of the public declarations, without their comments.
    private var declaredWords: Set<Substring> {
        get throws {
            var words: Set<Substring> = []
            for suffix in ["", "Images", "Testing"] {
                let path = "Documentation/Surface/OperationNetworking\(suffix).txt"
                let surface = package.appendingPathComponent(path)
                let text = try String(contentsOf: surface, encoding: .utf8)
                // Old names are no answer.
                let lines = text.split(separator: "\n").filter {
                    !$0.contains(" [deprecated") && !$0.contains(" [unavailable")
                }
                for line in lines {
                    words.formUnion(line.split { !$0.isLetter && !$0.isNumber && $0 != "_" })
                }
            }
            return words
        }
    }

    /// Names in the right columns that are Foundation's, Swift's or an example's.
    private static let foreign: Set<Substring> = [
        "try", "await", "FoundationXML", "XMLParser", "XMLDocument", "NSURLSession", "sockaddr",
        "SCNetworkReachabilityRef", "localizedDescription", "reloadIgnoringLocalCacheData",
        "returnCacheDataDontLoad", "OperationNetworkingImages", "aURLCredential", "session", "User", "pieces",
        "Task", "load", "download", "downloader",
    ]

    /// Each name that stands as code in a right column is declared: a word of the public surface.
    @Test(arguments: origins + ["AFNetworking 2.7"]) func everyCounterpartExists(origin: String) throws {
        let words = try declaredWords.union(Self.foreign)
        #expect(words.count > 1_000)
        let found = try origin == "AFNetworking 2.7" ? rows : otherRows(from: origin)
        #expect(found.count >= 15)
        for row in found {
            // Text in quotes is an example.
            for code in Self.codes(in: Substring(row.here)).map({ $0.replacing(#/"[^"]*"/#, with: "") }) {
                let names = code.matches(of: #/[A-Za-z_]\w\w+/#).map(\.0)
                for name in names where !words.contains(name) { Issue.record("\(row.symbols): \(code)") }
            }
        }
    }
}
