import Foundation
import Testing

@testable import OperationNetworkingTestSupport

/// The map of the code, `Documentation/Design/README.md`, names what is in this checkout.
@Suite struct DesignMapTests {
    private let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private let map: String

    init() throws {
        map = try String(
            contentsOf: package.appendingPathComponent("Documentation/Design/README.md"),
            encoding: .utf8
        )
    }

    private func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: package.appendingPathComponent(path).path)
    }

    private func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: package.appendingPathComponent(folder).path)
    }

    /// The first cell of each row of a chapter's tables.
    private func rows(of chapter: String) throws -> [String] {
        let start = try #require(map.range(of: "\n## \(chapter)\n")).upperBound
        let end = map[start...].range(of: "\n## ")?.lowerBound ?? map.endIndex
        return map[start..<end].matches(of: #/\n\| ([^|]+?) \|/#).map { String($0.1) }
    }

    @Test func everyPathExists() {
        // What stands in blocks of code is a drawing.
        let text = map.replacing(#/```[\s\S]*?```/#, with: "")
        let paths = text.matches(of: #/`([\w+.]+/[\w+.][\w+.\/-]*)`/#).map { String($0.1) }
        #expect(paths.count >= 30)
        for path in paths {
            let places = ["", "Sources/", "Sources/OperationNetworking/"]
            let candidates = places.flatMap { ["\($0)\(path)", "\($0)\(path).swift"] }
            #expect(candidates.contains(where: exists), "\(path)")
        }
    }

    @Test func everyNoteIsInTheIndexAndEveryRowANote() throws {
        let rows = try rows(of: "The notes").compactMap { row in
            row.wholeMatch(of: #/\[(.*)\]\((.*)\.md\)/#).map { (String($0.1), String($0.2)) }
        }
        for (title, file) in rows { #expect(title == file) }
        let notes = try names(in: "Documentation/Design").filter { $0.hasSuffix(".md") && $0 != "README.md" }
        #expect(rows.map { "\($0.1).md" }.sorted() == notes.sorted())
    }

    @Test func everyFolderIsInTheTableInTheOrderThatTheScriptChecks() throws {
        let rows = try rows(of: "Folders of the library, in order").compactMap { row in
            row.wholeMatch(of: #/`(\w+)\/`/#).map { String($0.1) }
        }
        let folders = try names(in: "Sources/OperationNetworking").filter { !$0.hasSuffix(".docc") }
        #expect(Set(rows) == Set(folders))
        let script = try String(
            contentsOf: package.appendingPathComponent("scripts/check-house-style"),
            encoding: .utf8
        )
        let order = try #require(script.firstMatch(of: #/split\(([^()]+), order/#)).1
        let checked = order.matches(of: #/[A-Z][A-Za-z]+/#).map { String($0.0) }
        #expect(rows == checked.filter(rows.contains))
    }
}
