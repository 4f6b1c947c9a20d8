import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

// Files: where they go, and data tasks that become downloads.
extension TaskDelegate {
    /// On the delegate queue: the file is complete.
    func save(_ operation: HTTPRequestOperation, for task: DownloadTask) {
        do {
            let temporary = try place(of: operation)
            // The session's closure wins over the task's own, as in AFNetworking.
            let chosen = session.hooks.withLock { $0.didFinishDownloading }?(task, temporary.file)
            let ask = state.withLock { $0.closures.destination }
            ConnectionOperation.processingQueue.async {
                let destination = chosen ?? ask?(temporary.file, operation.response)
                let error = self.move(temporary, to: destination, for: task)
                self.session.delegateQueue.async {
                    self.complete(task, operation, destination ?? temporary.file, error)
                }
            }
        } catch {
            complete(task, operation, nil, error)
        }
    }

    /// - Returns: why the file stays where it is; `nil`: it was moved, or is to stay.
    private func move(_ temporary: TemporaryPlace, to destination: URL?, for task: DownloadTask)
        -> (any Error)?
    {
        guard let destination else { return nil }
        do {
            try temporary.move(to: destination)
            if destination.standardizedFileURL == temporary.file.standardizedFileURL {
                // It is where the owner wants it.
                state.withLock { $0.place = nil }
            }
            line.append { Self.post(.urlSessionDownloadTaskDidMoveFile, task) }
            return nil
        } catch {
            let userInfo: [String: any Sendable] = [TaskDidCompleteKey.error: error]
            line.append { Self.post(.urlSessionDownloadTaskDidFailToMoveFile, task, userInfo) }
            return error
        }
    }

    /// The place of the complete file; that of a task that has become a download is written now.
    private func place(of operation: HTTPRequestOperation) throws -> TemporaryPlace {
        if let place = state.withLock({ $0.place }) { return place }
        let place = try TemporaryPlace(in: session.configuration.downloadDirectory)
        state.withLock { $0.place = place }
        try (operation.responseData ?? Data()).write(to: place.file)
        return place
    }

    /// The data task becomes a download, which has the transfer from now on. The data task completes, and
    /// tells nothing.
    func become(downloadFrom dataTask: DataTask) {
        let progress = TaskProgress(upload: dataTask.uploadProgress, download: dataTask.downloadProgress)
        let download = DownloadTask(
            session.nextIdentifier(),
            request: dataTask.originalRequest,
            progress: progress,
            owner: self
        )
        // Waiters for the data task wait for the download.
        let changing = dataTask.changing.withLock { changing in
            defer {
                _ = changing.machine.ended()
                changing.whenCompleted = []
            }
            return changing
        }
        download.changing.withLock { $0 = changing }
        state.withLock { $0.original = dataTask }
        take(download)
        session.replace(dataTask, with: download)
        session.hooks.withLock { $0.didBecomeDownload }?(dataTask, download)
    }

    /// Whether a task that has become a download has a file, though the serializer cannot read it: any
    /// successful response is saved.
    func hasFile(_ operation: HTTPRequestOperation) -> Bool {
        guard !(operation is DownloadOperation), operation.error is ResponseSerializationError else {
            return false
        }
        return (try? HTTPResponseSerializer().validate(operation.response, data: operation.responseData))
            != nil
    }
}
