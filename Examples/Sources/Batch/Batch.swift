import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking

/// Batch URL...: fetches all of them and counts.
@main
enum Batch {
    static func main() {
        let urls = CommandLine.arguments.dropFirst().compactMap(URL.init(string:))
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 2
        let callbacks = DispatchQueue(label: "callbacks")

        // The example.
        let operations = ConnectionOperation.batch(
            of: urls.map { HTTPRequestOperation(request: URLRequest(url: $0)) },
            completionQueue: callbacks,
            progress: { finished, total in print("\(finished) of \(total)") },
            completion: { operations in print("all \(operations.count)") })
        for operation in operations { queue.addOperation(operation) }
        // Its end.

        // The members call back on the main queue, which has to run for that; the batch's last operation finishes when
        // its completion has returned.
        let last = BlockOperation { exit(0) }
        if let end = operations.last { last.addDependency(end) }
        queue.addOperation(last)
        dispatchMain()
    }
}
