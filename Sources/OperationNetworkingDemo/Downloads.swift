import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting

/// The batch: one operation for each file, a queue that runs four of them, and what they have in all.
final class Downloads: Sendable {
    private let operations: [HTTPRequestOperation]
    private let queue = OperationQueue()
    private let meter: Meter
    private let half = Gate()
    private let all = Gate()

    init(_ files: [Site.File], from server: ScriptedServer, to directory: URL, _ screen: Screen) {
        let meter = Meter(expected: files.map { Int64($0.body.length) }, screen)
        // Progress comes on a queue of ours: a command has no main loop to bring it.
        let callbacks = DispatchQueue(label: "callbacks")
        let half = half
        self.meter = meter
        operations = files.enumerated().map { index, file in
            let operation = HTTPRequestOperation(request: URLRequest(url: server.url(path: "/" + file.name)))
            operation.outputFile = directory.appendingPathComponent(file.name)
            operation.completionQueue = callbacks
            operation.setDownloadProgress { _, total, _ in
                if meter.update(index, to: total) { half.open() }
            }
            return operation
        }
        queue.maxConcurrentOperationCount = 4
    }

    /// Adds everything to the queue.
    func start() {
        let batch = ConnectionOperation.batch(
            of: operations,
            completionQueue: DispatchQueue(label: "batch"),
            progress: { [meter] finished, _ in meter.finished(finished) },
            completion: { [all] _ in all.open() }
        )
        for operation in batch { queue.addOperation(operation) }
    }

    /// Pauses whatever has not finished; those that wait in the queue first, or they would be started in between.
    func pause() {
        for operation in operations where !operation.isExecuting { operation.pause() }
        for operation in operations { operation.pause() }
        meter.endLine()
    }

    func resume() {
        for operation in operations { operation.resume() }
    }

    func waitUntilHalf() async throws { try await half.wait(within: .seconds(60)) }

    func waitUntilAll() async throws {
        try await all.wait(within: .seconds(60))
        meter.endLine()
    }

    // MARK: - What happened

    var pausedCount: Int { operations.count { $0.isPaused } }

    /// Bytes that are in the files now.
    var heldBytes: Int64 { meter.total }

    /// Bytes that did not have to come again.
    var keptBytes: Int64 { operations.reduce(0) { $0 + ($1.metrics?.bytesKept ?? 0) } }

    var failures: [any Error] { operations.compactMap(\.error) }

    /// One that is paused and has some of its bytes.
    func pausedIndex() -> Int {
        operations.indices.last { operations[$0].isPaused && meter.count(of: $0) > 0 } ?? 0
    }
}
