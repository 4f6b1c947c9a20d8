import Foundation
import FoundationNetworking
import Measuring
import OperationNetworking

/// COMMAND URL DIRECTORY COUNT: `cancel` or `pause` of an operation that waits for a slow server, while four downloads of
/// URL run as fast as they can; from the call until its observer is notified, in milliseconds. COUNT times at least.
func stop(_ arguments: inout Arguments) throws {
    struct Result: Encodable {
        let median: Double
        let percentile99: Double
        let worst: Double
        /// Bytes that the downloads moved meanwhile, a second.
        let bytesPerSecond: Double
    }

    let command = try arguments.next("command")
    let url = try arguments.url("URL")
    let directory = URL(fileURLWithPath: try arguments.next("directory"))
    let count = try arguments.number("count")
    let server = try SlowServer(waitingFor: 0)
    let queue = OperationQueue()
    let callbacks = DispatchQueue(label: "callbacks")
    let downloads = Downloads(url, directory)
    for index in 0..<4 { downloads.begin(index, in: queue) }
    let observer = StopObserver()
    var times: [Double] = []
    let start = monotonicSeconds()
    // Long enough for the downloads to end and begin several times.
    while times.count < count || monotonicSeconds() - start < 4 {
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = callbacks
        operation.addObserver(observer)
        queue.addOperation(operation)
        observer.started.wait()
        let call = monotonicSeconds()
        if command == "pause" { operation.pause() } else { operation.cancel() }
        observer.stopped.wait()
        times.append((monotonicSeconds() - call) * 1000)
        guard command == "pause" else { continue }
        operation.cancel()
        observer.stopped.wait()
    }
    let seconds = monotonicSeconds() - start
    let bytes = downloads.stop()
    queue.waitUntilAllOperationsAreFinished()
    times.sort()
    try printResult(
        Result(
            median: times[times.count / 2],
            percentile99: times[min(times.count - 1, times.count * 99 / 100)],
            worst: times[times.count - 1],
            bytesPerSecond: Double(bytes) / seconds
        )
    )
}

/// Four files that are fetched again and again.
private final class Downloads: @unchecked Sendable {
    // @unchecked: everything that changes is used under `lock` only.
    private let lock = NSLock()
    private let url: URL
    private let directory: URL
    private let callbacks = DispatchQueue(label: "downloads")
    private var running: [Int: HTTPRequestOperation] = [:]
    private var bytes: Int64 = 0
    private var isOver = false

    init(_ url: URL, _ directory: URL) {
        self.url = url
        self.directory = directory
    }

    func begin(_ index: Int, in queue: OperationQueue) {
        let operation = HTTPRequestOperation(request: URLRequest(url: url))
        operation.outputFile = directory.appendingPathComponent("download-\(index)")
        operation.completionQueue = callbacks
        operation.setCompletion(
            success: { [self] operation, _ in
                let continues = lock.withLock { () -> Bool in
                    bytes += operation.metrics?.bytesReceived ?? 0
                    return !isOver
                }
                if continues { begin(index, in: queue) }
            },
            failure: nil
        )
        lock.withLock { running[index] = operation }
        queue.addOperation(operation)
    }

    func stop() -> Int64 {
        let (running, bytes) = lock.withLock { () -> ([HTTPRequestOperation], Int64) in
            isOver = true
            return (Array(self.running.values), self.bytes)
        }
        for operation in running { operation.cancel() }
        return bytes
    }
}

private final class StopObserver: OperationObserver {
    let started = DispatchSemaphore(value: 0)
    let stopped = DispatchSemaphore(value: 0)

    func operationDidStart(_ operation: ConnectionOperation) { started.signal() }
    func operationDidPause(_ operation: ConnectionOperation) { stopped.signal() }
    func operationDidFinish(_ operation: ConnectionOperation, wasRunning: Bool) { stopped.signal() }
}
