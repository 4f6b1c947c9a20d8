import Dispatch
import Foundation
import FoundationNetworking
import Glibc
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Processes that are killed in the middle of a batch, and others that go on with it.
@Suite(.timeLimit(.minutes(3)))
struct BatchKillTests {
    private static let count = 500
    private static let kills = 10

    /// The work of a process: makes the batch, or goes on with it, and kills itself when a number of members
    /// have ended.
    private static func run(port: Int, folder: String, killedAfter limit: Int) async throws {
        let folder = URL(fileURLWithPath: folder, isDirectory: true)
        let journal = folder.appendingPathComponent("batch.journal")
        let manager = OperationManager()
        manager.completionQueue = DispatchQueue(label: "callbacks")
        let ended = Recorder<Int>()
        let onEvent: @Sendable (DownloadBatch.Event) -> Void = { event in
            guard case .ended(let index, let result) = event else { return }
            // What an earlier process finished does not count.
            if let download = try? result.get(), download.bytesRecovered == download.length { return }
            ended.append(index)
            if ended.elements.count == limit { kill(getpid(), SIGKILL) }
        }
        let batch: DownloadBatch
        if FileManager.default.fileExists(atPath: journal.path) {
            batch = try manager.downloads(resuming: journal, event: onEvent)
        } else {
            let items = try (0..<count).map { index in
                DownloadItem(
                    url: try #require(URL(string: "http://127.0.0.1:\(port)/\(index)")),
                    destination: folder.appendingPathComponent("\(index)")
                )
            }
            batch = try manager.downloads(items, journal: journal, event: onEvent)
        }
        for result in await batch.results() { _ = try result.get() }
    }

    private static func complete(_ folder: TemporaryDirectory) throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter { Int($0) != nil })
    }

    @Test func fiveHundredFilesSurviveTenKillsAndNoCompleteOneIsFetchedAgain() async throws {
        let server = try ScriptedServer { request in
            .respond(200, ["ETag": "\"v1\""], body: .text("file \(request.path)"))
        }
        let folder = try TemporaryDirectory()
        let (port, path) = (server.port, folder.url.path)
        var seen = 0
        for round in 0..<Self.kills {
            let before = try Self.complete(folder)
            await #expect(processExitsWith: .signal(SIGKILL)) { [port = port as Int, path = path as String] in
                try await BatchKillTests.run(port: port, folder: path, killedAfter: 45)
            }
            let requested = server.requests[seen...].map { String($0.path.dropFirst()) }
            #expect(before.isDisjoint(with: requested), "round \(round)")
            seen += requested.count
        }
        let before = try Self.complete(folder)
        await #expect(processExitsWith: .success) { [port = port as Int, path = path as String] in
            try await BatchKillTests.run(port: port, folder: path, killedAfter: .max)
        }
        #expect(before.isDisjoint(with: server.requests[seen...].map { String($0.path.dropFirst()) }))
        for index in 0..<Self.count {
            let text = try String(contentsOf: folder.file("\(index)"), encoding: .utf8)
            #expect(text == "file /\(index)")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: path)
        #expect(names.count == Self.count, "\(names.filter { Int($0) == nil })")
        // A member that was on its way when its process was killed may be asked for again: at most this
        // number.
        #expect(
            server.requests.count <= Self.count + Self.kills
                * DownloadBatch.Options().maximumActiveDownloadsPerHost
        )
    }
}
