import Foundation
import Testing

@testable import OperationNetworkingTestSupport

/// The samples of README, the guides, the articles and the comments of the libraries are
/// compiled: each is a marked part of a program in `Examples/`, or of a test that shows an app's test, and each
/// marked part is shown.
@Suite struct DocumentedSamplesTests {
    private let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private func lines(_ path: String) throws -> [String] {
        try String(contentsOf: package.appendingPathComponent(path), encoding: .utf8)
            .components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// The text between two lines, each time, without the empty lines at its ends.
    private func parts(of lines: [String], from start: String, to end: String) -> [String] {
        var parts: [String] = []
        var part: [String]?
        for line in lines {
            if line == start {
                part = []
            } else if line == end, let lines = part {
                parts.append(lines.joined(separator: "\n").trimmingCharacters(in: .newlines))
                part = nil
            } else {
                part?.append(line)
            }
        }
        return parts
    }

    /// A part of a manifest is no part of a program.
    private func samples(in path: String) throws -> [String] {
        try parts(of: lines(path), from: "```swift", to: "```").filter { !$0.hasPrefix("dependencies:") }
    }

    private var programs: [String: [String]] { get throws { try programs(in: Self.isolated) } }

    private func programs(in folder: String) throws -> [String: [String]] {
        try Dictionary(
            uniqueKeysWithValues: names(in: folder).map { name in
                let files = try names(in: "\(folder)/\(name)").filter { $0.hasSuffix(".swift") }
                return (name, try files.flatMap { try markedParts("\(folder)/\(name)/\($0)") })
            }
        )
    }

    private func names(in folder: String) throws -> [String] {
        let folder = package.appendingPathComponent(folder).resolvingSymlinksInPath()
        return try FileManager.default.contentsOfDirectory(atPath: folder.path)
    }

    private var appTests: [String] {
        get throws { try (Self.isolatedTests + Self.nonisolatedTests).flatMap(markedParts) }
    }

    // The folders of the programs, and the tests, by what their package isolates to unless they say so: the main
    // actor, or nothing.
    private static let isolated = "Examples/Sources"
    private static let nonisolated = "Examples/Nonisolated"
    private static let isolatedTests = ["PhotoStoreTests", "KitTests", "ReadmeTests"].map { name in
        "Examples/PhotoStore/Tests/\(name).swift"
    }
    private static let nonisolatedTests = ["AppTests", "ArticleTests"].map { name in
        "Tests/OperationNetworkingTests/Stubs/\(name).swift"
    }

    // MARK: - The documentation

    private static let catalog = "Sources/OperationNetworking/OperationNetworking.docc"
    private static let documents = ["README.md", "Documentation/Guide.md", "Migration.md"]

    private var articles: [String] {
        get throws { try names(in: Self.catalog).filter { $0.hasSuffix(".md") } }
    }

    private var articleSamples: [String] {
        get throws { try articles.flatMap { try samples(in: "\(Self.catalog)/\($0)") } }
    }

    /// The samples in the comments of the sources, without the slashes.
    private var commentSamples: [String] {
        get throws {
            try ["OperationNetworking", "OperationNetworkingImages", "OperationNetworkingTesting"].flatMap {
                module in
                let folder = package.appendingPathComponent("Sources/\(module)")
                let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
                return try #require(files).compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
                    .flatMap { file in
                        let comments = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
                            .map { $0.drop { $0 == " " } }.filter { $0.hasPrefix("///") }
                            .map { $0.dropFirst(3).trimmingCharacters(in: .whitespaces) }
                        return parts(of: comments, from: "```swift", to: "```")
                    }
            }
        }
    }

    private func markedParts(_ path: String) throws -> [String] {
        try parts(of: lines(path), from: "// MARK: Example", to: "// MARK: End of example")
    }

    // MARK: - Tests

    @Test(arguments: documents) func everySampleIsAPartOfAProgram(path: String) throws {
        let compiled = try Set(programs.values.joined()).union(appTests)
        let samples = try samples(in: path)
        #expect(samples.count >= 2)
        for sample in samples { #expect(compiled.contains(sample), "\(sample)") }
    }

    @Test(arguments: ["README.md", "Migration.md"])
    func everySampleIsCompiledWithEachIsolation(path: String) throws {
        for (folder, tests) in [
            (Self.isolated, Self.isolatedTests), (Self.nonisolated, Self.nonisolatedTests),
        ] {
            let compiled = try Set(programs(in: folder).values.joined()).union(tests.flatMap(markedParts))
            for sample in try samples(in: path) { #expect(compiled.contains(sample), "\(folder): \(sample)") }
        }
    }

    @Test func everySampleOfTheArticlesAndOfTheCommentsIsAPartOfAProgram() throws {
        let compiled = try Set(programs.values.joined()).union(appTests)
        #expect(try articleSamples.count >= 50)
        #expect(try commentSamples.count >= 30)
        for sample in try articleSamples + commentSamples {
            #expect(compiled.contains(sample), "\(sample)")
        }
    }

    @Test func everyArticleIsOnTheFirstPage() throws {
        let page = try lines("\(Self.catalog)/OperationNetworking.md")
        let names = try articles.map { $0.dropLast(3) }.filter { $0 != "OperationNetworking" }
        #expect(names.count >= 12)
        for name in names { #expect(page.contains("- <doc:\(name)>"), "\(name)") }
    }

    @Test func everyMarkedPartIsShown() throws {
        let shown = try Set(Self.documents.flatMap { try samples(in: $0) } + articleSamples + commentSamples)
        for (name, parts) in try programs.merging(["AppTests": appTests], uniquingKeysWith: +) {
            #expect(!parts.isEmpty, "\(name)")
            for part in parts { #expect(shown.contains(part), "\(name): \(part)") }
        }
    }

    @Test func everyProgramIsBuilt() throws {
        let manifest = try lines("Examples/Package.swift").joined()
        for name in try programs.keys { #expect(manifest.contains("\"\(name)\""), "\(name)") }
        for name in try names(in: Self.nonisolated) {
            #expect(manifest.contains("\"Nonisolated/\(name)\""), "\(name)")
        }
    }
}
