import Foundation
import Testing

/// The samples of README, the guide and the migration guide are compiled: each is a marked part of a program in
/// `Examples/`, or of the tests that show an app's test, and each marked part is shown.
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

    private var programs: [String: [String]] {
        get throws {
            let folder = "Examples/Sources"
            return try Dictionary(
                uniqueKeysWithValues: names(in: folder).map { name in
                    let files = try names(in: "\(folder)/\(name)").filter { $0.hasSuffix(".swift") }
                    return (name, try files.flatMap { try markedParts("\(folder)/\(name)/\($0)") })
                }
            )
        }
    }

    private func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: package.appendingPathComponent(folder).path)
    }

    private var appTest: [String] {
        get throws {
            try markedParts("Tests/OperationNetworkingTests/Stubs/AppTests.swift")
                + markedParts("Examples/Tests/PhotoStoreTests/PhotoStoreTests.swift")
        }
    }

    private func markedParts(_ path: String) throws -> [String] {
        try parts(of: lines(path), from: "// MARK: Example", to: "// MARK: End of example")
    }

    @Test(arguments: ["README.md", "Documentation/Guide.md", "Migration.md"])
    func everySampleIsAPartOfAProgram(path: String) throws {
        let compiled = try Set(programs.values.joined()).union(appTest)
        let samples = try samples(in: path)
        #expect(samples.count >= 5)
        for sample in samples { #expect(compiled.contains(sample), "\(sample)") }
    }

    @Test func everyMarkedPartIsShown() throws {
        let shown = try Set(
            samples(in: "README.md") + samples(in: "Documentation/Guide.md") + samples(in: "Migration.md")
        )
        for (name, parts) in try programs.merging(["AppTests": appTest], uniquingKeysWith: +) {
            #expect(!parts.isEmpty, "\(name)")
            for part in parts { #expect(shown.contains(part), "\(name): \(part)") }
        }
    }

    @Test func everyProgramIsBuilt() throws {
        let manifest = try lines("Examples/Package.swift").joined()
        for name in try programs.keys { #expect(manifest.contains("\"\(name)\""), "\(name)") }
    }
}
