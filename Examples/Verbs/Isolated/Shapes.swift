import Foundation
import FoundationNetworking
import OperationNetworking

// The other calls that clients are written with, compiled in the same three modes and not run.
@MainActor
final class Shapes {
    var text = ""
    let manager = OperationManager()
    let queue = OperationQueue()

    func operations(_ url: URL) async throws {
        let operation = HTTPRequestOperation(request: URLRequest(url: url))
        operation.setCompletion(
            success: { operation, object in self.text = "\(object ?? "nothing")" },
            failure: { operation, error in self.text = "\(error)" }
        )
        queue.addOperation(operation)
        operation.pause()
        operation.resume()
        operation.cancel()
        text = "\(try await operation.value ?? "nothing")"
        let batch = OperationBatch([operation.copied(), operation.copied()])
        batch.add(to: queue)
        batch.pause()
        batch.resume()
        for result in await batch.results() { text = "\(result)" }
        let members = ConnectionOperation.batch(
            of: [operation.copied()],
            progress: { finished, total in self.text = "\(finished) of \(total)" },
            completion: { operations in self.text = "\(operations.count)" }
        )
        for member in members { queue.addOperation(member) }
    }

    func downloads(_ url: URL, to file: URL, _ digest: FileDigest) async throws {
        let download = DownloadOperation(request: URLRequest(url: url), to: file)
        download.expectedDigests = [digest]
        queue.addOperation(download)
        text = try await download.savedFile.path
    }

    func tasks(_ request: URLRequest, _ file: URL) {
        let session = URLSessionManager(configuration: SessionConfiguration())
        let task = session.dataTask(with: request) { response, object, error in
            self.text = "\(object ?? "nothing")"
        }
        task.resume()
        task.suspend()
        task.cancel()
        text = "\(task.state) \(task.taskIdentifier) \(task.progress.fractionCompleted)"
        let get = session.downloadTask(
            with: request,
            progress: { progress in self.text = "\(progress.fractionCompleted)" },
            destination: { temporary, response in file },
            completion: { response, file, error in self.text = file?.path ?? "" }
        )
        get.cancelByProducingResumeData { data in self.text = "\(data?.count ?? 0)" }
        session.downloadTask(
            withResumeData: Data(),
            progress: nil,
            destination: { _, _ in file },
            completion: { _, _, _ in }
        ).resume()
        session.uploadTask(with: request, fromFile: file, progress: nil) { response, object, error in }
            .resume()
        session.invalidateSession(cancelingTasks: true)
    }

    func settings(_ folder: URL) async throws {
        try manager.requestSerializer.setValue("v", forHTTPHeaderField: "X-Field")
        manager.maximumConnectionsPerHost = 6
        ConnectionOperation.maximumConnectionsPerHost = 6
        manager.cache = ResponseCache(memoryCapacity: 20 << 20, diskCapacity: 100 << 20, directory: folder)
        manager.stubs = RequestStubs([
            RequestStub("GET", "https://api.example.com/users/1", .json(["id": 1, "name": "Ann"]))
        ])
        let reachability = NetworkReachabilityManager.shared
        reachability.setStatusChange { status in self.text = "\(status)" }
        reachability.startMonitoring()
        for await status in reachability.statuses { text = "\(status)" }
    }
}
