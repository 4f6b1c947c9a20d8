import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

// Files: where they go, and data tasks that become downloads.
extension TaskDelegate {
    /// The file is complete.
    /// - Returns: the question for its destination.
    func save(_ operation: HTTPRequestOperation, for task: DownloadTask) -> Callback? {
        let temporary: TemporaryPlace
        do {
            temporary = try place(of: operation)
        } catch {
            complete(task, operation, nil, error)
            return nil
        }
        // The session's closure wins over the task's own, as in AFNetworking.
        guard let ask = session.hooks.withLock({ $0.didFinishDownloading }) else {
            choose(temporary, operation, for: task)
            return nil
        }
        let plain = { @Sendable in callAssumingIsolation(of: ask, $0, $1) }
        return Callback(in: ask.isolation) {
            if let destination = plain(task, temporary.file) {
                self.save(temporary, to: destination, operation, for: task)
            } else {
                self.choose(temporary, operation, for: task)
            }
        }
    }

    /// Saves the file where the task's own closure wants it.
    private func choose(
        _ temporary: TemporaryPlace,
        _ operation: HTTPRequestOperation,
        for task: DownloadTask
    ) {
        guard let ask = state.withLock({ $0.closures.destination }) else {
            return save(temporary, to: nil, operation, for: task)
        }
        let response = operation.response
        let plain = { @Sendable in callAssumingIsolation(of: ask, $0, $1) }
        Callback(in: ask.isolation) {
            self.save(temporary, to: plain(temporary.file, response), operation, for: task)
        }
        .perform(on: ConnectionOperation.processingQueue)
    }

    private func save(
        _ temporary: TemporaryPlace,
        to destination: URL?,
        _ operation: HTTPRequestOperation,
        for task: DownloadTask
    ) {
        ConnectionOperation.processingQueue.async {
            // A closure may have waited for its queue.
            let error =
                task.isUnwanted
                ? self.discard(temporary, of: task) : self.move(temporary, to: destination, for: task)
            self.events.append {
                self.complete(task, operation, destination ?? temporary.file, error)
                return nil
            }
        }
    }

    /// Removes the file of a task that was cancelled after the last byte had come.
    /// - Returns: the error of the task.
    func discard(_ temporary: TemporaryPlace?, of task: SessionTask) -> any Error {
        temporary?.removeAll()
        return URLError.cancelled(url: task.originalRequest.url)
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
        if let place = state.withLock({ $0.place }) {
            // HEAD has no body: the file is empty, as with `URLSession`.
            if operation.request.httpMethod?.uppercased() == "HEAD" { try Data().write(to: place.file) }
            return place
        }
        let place = try TemporaryPlace(in: session.configuration.downloadDirectory)
        state.withLock { $0.place = place }
        try (operation.responseData ?? Data()).write(to: place.file)
        return place
    }

    /// The data task becomes a download, which has the transfer from now on. The data task completes, and
    /// tells nothing.
    /// - Parameters:
    ///   - dataTask: whose response came.
    ///   - decide: gets the place of the body.
    /// - Returns: the call of the session's closure.
    func become(downloadFrom dataTask: DataTask, _ decide: @escaping @Sendable (BodyPlace) -> Void)
        -> Callback?
    {
        let place = try? TemporaryPlace(in: session.configuration.downloadDirectory)
        let identifier = session.nextIdentifier()
        // In one hold: a command for the data task either is in the state that the download takes over, or
        // finds the data task completed, and its progress commands the download.
        let download = dataTask.changing.withLock { changing -> DownloadTask? in
            guard changing.machine.phase != .completed else { return nil }
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
            changing.successor = SessionTask.Successor(download)
            return download
        }
        guard let download else {
            place?.removeAll()
            decide(.usual)
            return nil
        }
        state.withLock { state in
            state.original = dataTask
            state.place = place
            (state.operation as? SessionDataOperation)?.becomeDownload()
        }
        take(download)
        session.replace(dataTask, with: download)
        let bodyPlace = place.map { BodyPlace.file($0.file) } ?? .usual
        guard let tell = session.hooks.withLock({ $0.didBecomeDownload }) else {
            decide(bodyPlace)
            return nil
        }
        let plain = { @Sendable in callAssumingIsolation(of: tell, $0, $1) }
        return Callback(in: tell.isolation) {
            plain(dataTask, download)
            decide(bodyPlace)
        }
    }
}
