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
            let save: @Sendable (URL?) -> Void = { destination in
                ConnectionOperation.processingQueue.async {
                    let error = self.move(temporary, to: destination, for: task)
                    self.session.delegateQueue.async {
                        self.complete(task, operation, destination ?? temporary.file, error)
                    }
                }
            }
            guard chosen == nil, let ask else { return save(chosen) }
            let response = operation.response
            let plain = IsolatedFunction.Binary(ask).plain
            switch ClosureHome(ask.isolation) {
            case .anywhere:
                ConnectionOperation.processingQueue.async { save(plain(temporary.file, response)) }
            case .main:
                DispatchQueue.main.async { save(plain(temporary.file, response)) }
            case .actor:
                Task { save(await ask(temporary.file, response)) }
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

    /// The place of the complete file. A task that has become a download has its body in memory if no folder
    /// could be made when the head came: that may be possible now.
    private func place(of operation: HTTPRequestOperation) throws -> TemporaryPlace {
        if let place = state.withLock({ $0.place }) { return place }
        let place = try TemporaryPlace(in: session.configuration.downloadDirectory)
        state.withLock { $0.place = place }
        try (operation.responseData ?? Data()).write(to: place.file)
        return place
    }

    /// The data task becomes a download, which has the transfer from now on. The data task completes, and
    /// tells nothing.
    /// - Returns: the place of the body.
    func become(downloadFrom dataTask: DataTask) -> BodyPlace {
        let place = try? TemporaryPlace(in: session.configuration.downloadDirectory)
        let identifier = session.nextIdentifier()
        // In one hold: a command for the data task either is in the state that the download takes over, or
        // finds the data task completed, and its progress commands the download.
        let download = dataTask.changing.withLock { changing in
            let download = DownloadTask(
                identifier,
                request: dataTask.originalRequest,
                progress: dataTask.taskProgress,
                owner: self,
                changing: changing
            )
            _ = changing.machine.ended()
            // Waiters for the data task wait for the download.
            changing.whenCompleted = []
            return download
        }
        state.withLock { state in
            state.original = dataTask
            state.place = place
        }
        take(download)
        session.replace(dataTask, with: download)
        session.hooks.withLock { $0.didBecomeDownload }?(dataTask, download)
        return place.map { .file($0.file) } ?? .usual
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
