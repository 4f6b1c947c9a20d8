import Foundation
import FoundationNetworking
import Measuring
import OperationNetworking

/// COUNT LIMIT: a batch of members in a queue with a limit, at a server that never answers. Seconds of each command.
func batch(_ arguments: inout Arguments) throws {
    let count = try arguments.number("count")
    let limit = try arguments.number("limit")
    let server = try SlowServer(waitingFor: 0)
    let queue = TransferQueue()
    queue.maxConcurrentOperationCount = limit
    var times: [String: Double] = [:]
    func time(_ name: String, _ work: () throws -> Void) rethrows {
        let start = monotonicSeconds()
        try work()
        times[name] = monotonicSeconds() - start
    }
    var made: OperationBatch<HTTPRequestOperation>?
    time("make") {
        made = OperationBatch(
            (0..<count).map { _ in HTTPRequestOperation(request: URLRequest(url: server.url)) }
        )
    }
    guard let batch = made else { return }
    time("pause before") { batch.pause() }
    time("add") { queue.addOperations(batch.operations, waitUntilFinished: false) }
    time("resume") { batch.resume() }
    time("pause") { batch.pause() }
    time("resume again") { batch.resume() }
    time("cancel") { batch.cancel() }
    time("end") { queue.waitUntilAllOperationsAreFinished() }
    try printResult(times)
}
