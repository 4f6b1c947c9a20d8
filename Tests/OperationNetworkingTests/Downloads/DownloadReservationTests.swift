import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Downloads that wait for a connection.
@Suite(.timeLimit(.minutes(1)))
struct DownloadReservationTests {
    private let gate = Gate()
    private let server: ScriptedServer
    private let folder: TemporaryDirectory
    private let manager = OperationManager()

    init() throws {
        server = try ScriptedServer { [gate] request in
            request.path == "/0" ? .respond(body: "held").held(after: 2, by: gate) : .respond(body: "come")
        }
        folder = try TemporaryDirectory()
        manager.maximumConnectionsPerHost = 1
        manager.completionQueue = DispatchQueue(label: "callbacks")
    }

    private func download(_ number: Int) -> DownloadOperation {
        let request = URLRequest(url: server.url(path: "/\(number)"))
        return manager.downloadOperation(for: request, to: folder.file("\(number)"))
    }

    /// The first has the only connection, and some of its body.
    private func begin(_ operations: [DownloadOperation]) async throws {
        operations[0].start()
        try await gate.waitForArrivals()
        for operation in operations.dropFirst() { operation.start() }
        try await networkThreadIsDone()
    }

    /// Of the descriptors of this process, those that are below the folder.
    private var openFiles: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }
        .filter { $0.hasPrefix(folder.url.path) }
    }

    @Test func waitingDownloadsHaveNothingOpen() async throws {
        let operations = (0..<40).map(download)
        try await begin(operations)
        // The part, what is written beside it, and its folder.
        #expect((1...4).contains(openFiles.count))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(names.allSatisfy { $0.hasPrefix("0") })
        gate.open()
        for operation in operations { _ = try await operation.value }
        #expect(openFiles.isEmpty)
        #expect(server.requests.map(\.path) == (0..<40).map { "/\($0)" })
    }

    @Test func pausedAndCancelledDownloadsLeaveTheQueue() async throws {
        let operations = (0..<4).map(download)
        try await begin(operations)
        operations[1].pause()
        operations[2].cancel()
        let error = await #expect(throws: URLError.self) { try await operations[2].value }
        #expect(error?.code == .cancelled)
        gate.open()
        _ = try await (operations[0].value, operations[3].value)
        operations[1].resume()
        _ = try await operations[1].value
        #expect(server.requests.map(\.path) == ["/0", "/3", "/1"])
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(Set(names) == ["0", "1", "3"])
    }

    @Test func theMoreUrgentDownloadComesFirst() async throws {
        let operations = (0..<4).map(download)
        operations[3].queuePriority = .high
        try await begin(operations)
        gate.open()
        for operation in operations { _ = try await operation.value }
        #expect(server.requests.map(\.path) == ["/0", "/3", "/1", "/2"])
    }
}
