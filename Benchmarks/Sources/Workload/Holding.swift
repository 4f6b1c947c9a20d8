internal import CurlBaseline
import Foundation
import FoundationNetworking
import Measuring
import OperationNetworking

/// COUNT: requests in flight at once at a server that sends half of each body, and the rest when all are there.
func hold(_ arguments: inout Arguments) throws {
    struct Result: Encodable {
        /// In bytes, of the operation with its request, and of all that it needs while its body comes.
        let memoryEach: Int
        let seconds: Double
    }

    let count = try arguments.number("count")
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let server = try SlowServer(waitingFor: count)
    ConnectionOperation.maximumConnectionsPerHost = count
    let queue = TransferQueue()
    queue.maxConcurrentOperationCount = count
    let before = try residentBytes()
    let start = monotonicSeconds()
    let operations = (0..<count).map { _ in HTTPRequestOperation(request: URLRequest(url: server.url)) }
    queue.addOperations(operations, waitUntilFinished: true)
    let failed = operations.count { $0.error != nil || $0.responseData?.count != 1024 }
    guard failed == 0 else { throw WorkError.failed(failed) }
    // All were in flight together, or the server would not have let any of them end.
    let peak = Usage.now.peak << 10
    try printResult(Result(memoryEach: (peak - before) / count, seconds: monotonicSeconds() - start))
}

/// COUNT: operations in a queue that starts none; the memory of each with its request, in bytes.
func queue(_ arguments: inout Arguments) throws {
    struct Result: Encodable {
        /// The operation and its request, by malloc(3)'s own count.
        let memoryEach: Int
        /// The queue's own part.
        let queueEach: Int
    }

    let count = try arguments.number("count")
    guard let url = URL(string: "http://127.0.0.1/kibibyte") else { throw WorkError.missing("URL") }
    let queue = OperationQueue()
    queue.isSuspended = true
    queue.addOperation(HTTPRequestOperation(request: URLRequest(url: url)))
    var operations: [Operation] = []
    operations.reserveCapacity(count)
    let before = allocated_bytes()
    for _ in 0..<count { operations.append(HTTPRequestOperation(request: URLRequest(url: url))) }
    let made = allocated_bytes()
    queue.addOperations(operations, waitUntilFinished: false)
    let added = allocated_bytes()
    try printResult(Result(memoryEach: Int(made - before) / count, queueEach: Int(added - made) / count))
    exit(0)
}
