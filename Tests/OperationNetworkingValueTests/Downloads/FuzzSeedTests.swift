import Foundation
import FoundationNetworking
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// The seeds of the fuzzer have to be accepted, or it would only ever find out how they are refused.
@Suite struct FuzzSeedTests {
    /// Without the first octet, which says what the others are.
    private static func seed(_ name: String) throws -> [UInt8] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return Array(try Data(contentsOf: tests.appending(path: "Fuzzing/Seeds/\(name)")).dropFirst())
    }

    @Test func oneIsACheckpointWithTheHighestNumbers() throws {
        let body = try Self.seed("checkpoint")
        let digest = try body.span.sha256Text()
        let header = "OperationNetworking-download \(DownloadCheckpoint.schema) \(digest)\n"
        let checkpoint = try DownloadCheckpoint(fileBytes: Array(header.utf8) + body)
        #expect(checkpoint.total == .max && checkpoint.committed == 10)
    }

    @Test func oneIsAJournal() throws {
        var file: [UInt8] = []
        for line in try Self.seed("journal").split(separator: UInt8(ascii: "\n")) {
            let digest = try Array(line).span.sha256Text().prefix(16)
            file += Array((digest + " ").utf8) + line + [UInt8(ascii: "\n")]
        }
        let replay = try JournalReplay(file)
        #expect(replay.header.items.count == 2 && replay.entries.count == 2)
        #expect(replay.header.options.options.retryPolicy?.maximumRetries == 5)
    }

    @Test func oneIsAnArchive() throws {
        let archive = try JSONDecoder().decode(OperationArchive.self, from: Data(try Self.seed("archive")))
        #expect(archive.request.bodySource?.length == nil)
        let negative = try Self.seed("archive").split(separator: UInt8(ascii: "9"), maxSplits: 1)
        let text = Array(negative[0]) + Array("-9".utf8) + Array(negative[1])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(OperationArchive.self, from: Data(text))
        }
    }
}
