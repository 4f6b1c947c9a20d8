import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking

/// Request URL: fetches JSON, shows progress and the result.
@main
enum Request {
    static func main() {
        guard let url = CommandLine.arguments.dropFirst().first.flatMap(URL.init(string:)) else {
            FileHandle.standardError.write(Data("usage: Request URL\n".utf8))
            exit(2)
        }
        let queue = OperationQueue()
        let callbacks = DispatchQueue(label: "callbacks")

        // The example.
        let operation = HTTPRequestOperation(request: URLRequest(url: url))
        operation.responseSerializer = JSONResponseSerializer()
        operation.completionQueue = callbacks
        operation.setDownloadProgress { bytes, total, expected in print(bytes, total, expected) }
        operation.setCompletion(
            success: { operation, object in print(operation.response?.expectedContentLength ?? 0, object ?? "nothing") },
            failure: { operation, error in print(error) })
        queue.addOperation(operation)
        // Its end.

        queue.waitUntilAllOperationsAreFinished()
        // The operation is finished before its callbacks; they come in order, so after this one all have come.
        callbacks.sync {}
        exit(operation.error == nil ? 0 : 1)
    }
}
