internal import CurlBaseline
import Foundation
import FoundationNetworking
import Measuring
import OperationNetworking

/// CLIENT URL COUNT IN-FLIGHT. The number in flight is a limit of connections, not of operations: all of them are in the
/// queue at once.
func get(_ arguments: inout Arguments) throws {
    let client = try arguments.next("client")
    let url = try arguments.url("URL")
    let count = try arguments.number("count")
    let inFlight = try arguments.number("number in flight")
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("cache-\(getpid())")
    defer { try? FileManager.default.removeItem(at: directory) }
    let cache: ResponseCache? =
        switch client {
        case "memory": ResponseCache(memoryCapacity: 64 << 20, diskCapacity: 0, directory: nil)
        case "disk", "many": ResponseCache(memoryCapacity: 0, diskCapacity: 64 << 20, directory: directory)
        default: nil
        }
    let many = (0..<500).compactMap { URL(string: url.absoluteString + "?\($0)") }
    let get: (Int) throws -> Void =
        switch client {
        case "operations": { try getByOperations(url, $0, inFlight) }
        case "json":
            {
                try getByOperations(url, $0, inFlight) { request in
                    let operation = HTTPRequestOperation(request: request)
                    operation.responseSerializer = JSONResponseSerializer()
                    return operation
                }
            }
        case "managed", "memory", "disk": { try getByManager([url], $0, inFlight, cache: cache) }
        case "many": { try getByManager(many, $0, inFlight, cache: cache) }
        case "curl": { try check(curl_baseline_get(url.absoluteString, Int32($0), Int32(inFlight))) }
        case "inbox": { try check(curl_inbox_get(url.absoluteString, Int32($0), Int32(inFlight))) }
        case "session": { try getBySession(url, $0, inFlight) }
        default: throw WorkError.unknown(client)
        }
    // Neither the first connections nor what is loaded, made and stored once are part of the figure.
    try get(client == "many" ? many.count : inFlight)
    // It waits until the files are written.
    _ = cache?.currentDiskUsage
    try printResult(Usage.of { try get(count) })
}

private func check(_ failed: Int32) throws {
    guard failed == 0 else { throw WorkError.failed(Int(failed)) }
}

/// Operations of a manager, which has the cache, for some URLs in turn.
private func getByManager(_ urls: [URL], _ count: Int, _ inFlight: Int, cache: ResponseCache?) throws {
    let manager = OperationManager()
    manager.responseSerializer = HTTPResponseSerializer()
    manager.maximumConnectionsPerHost = inFlight
    manager.cache = cache
    var next = 0
    try getByOperations(urls[0], count, inFlight) { request in
        defer { next = (next + 1) % urls.count }
        return manager.operation(for: next == 0 ? request : URLRequest(url: urls[next]))
    }
}

/// Full operations with a completion, in a queue.
func getByOperations(
    _ url: URL,
    _ count: Int,
    _ inFlight: Int,
    _ make: (URLRequest) -> HTTPRequestOperation = { HTTPRequestOperation(request: $0) }
) throws {
    ConnectionOperation.maximumConnectionsPerHost = inFlight
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = inFlight
    let completions = DispatchQueue(label: "completions")
    let ends = Ends()
    let group = DispatchGroup()
    for _ in 0..<count {
        let operation = make(URLRequest(url: url))
        operation.completionQueue = completions
        group.enter()
        operation.setCompletion(
            success: { _, _ in
                ends.succeeded()
                group.leave()
            },
            failure: { _, _ in group.leave() }
        )
        queue.addOperation(operation)
    }
    group.wait()
    guard ends.count == count else { throw WorkError.failed(count - ends.count) }
}

/// Foundation's URLSession, with a completion on a serial queue.
private func getBySession(_ url: URL, _ count: Int, _ inFlight: Int) throws {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpMaximumConnectionsPerHost = inFlight
    configuration.urlCache = nil
    let completions = OperationQueue()
    completions.maxConcurrentOperationCount = 1
    let session = URLSession(configuration: configuration, delegate: nil, delegateQueue: completions)
    let slots = DispatchSemaphore(value: inFlight)
    let group = DispatchGroup()
    let ends = Ends()
    for _ in 0..<count {
        slots.wait()
        group.enter()
        session.dataTask(with: URLRequest(url: url)) { data, _, _ in
            if data?.isEmpty == false { ends.succeeded() }
            slots.signal()
            group.leave()
        }.resume()
    }
    group.wait()
    session.invalidateAndCancel()
    guard ends.count == count else { throw WorkError.failed(count - ends.count) }
}

/// Counts successes, on one serial queue; read when that has nothing more to do.
private final class Ends: @unchecked Sendable {
    // @unchecked: see above.
    private(set) var count = 0

    func succeeded() { count += 1 }
}
