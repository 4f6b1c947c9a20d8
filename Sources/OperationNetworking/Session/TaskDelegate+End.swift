import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

// The end of a task.
extension TaskDelegate {
    /// All that is known of it.
    private struct End: Sendable {
        let task: SessionTask
        let operation: HTTPRequestOperation?
        let object: (any Sendable)?
        let error: (any Error)?
        let metrics: [TransferMetrics]
        let resumeData: Data?
        let resumeDataHandlers: [DownloadTask.ResumeDataHandler]
    }

    func didEnd(
        _ operation: HTTPRequestOperation,
        object: (any Sendable)?,
        error: (any Error)?
    ) -> Callback? {
        guard let task else {
            // It was released: there is no owner of a file.
            state.withLock { $0.place }.map { remove($0, of: operation) }
            return nil
        }
        if error == nil, task.isUnwanted {
            complete(task, operation, nil, discard(state.withLock { $0.place }, of: task))
        } else if let download = task as? DownloadTask, error == nil {
            return save(operation, for: download)
        } else {
            complete(task, operation, object, error)
        }
        return nil
    }

    /// Everything is final, and everything is told. On the delegate queue, as an event.
    func complete(
        _ task: SessionTask,
        _ operation: HTTPRequestOperation?,
        _ object: (any Sendable)?,
        _ error: (any Error)?
    ) {
        let resumeData = error == nil ? nil : keptBytes(operation, of: task)
        // A file that was not moved is named by the error.
        let object = task is DownloadTask && error != nil ? nil : object
        if error == nil {
            for direction in [ProgressDirection.upload, .download] where direction != task.taskProgress.child
            {
                fill(direction, of: task)
            }
        }
        // Before it is complete: no complete task is ever listed.
        session.remove(task)
        let original = state.withLock { $0.original }
        original?.changing.withLock { changing in
            changing.object = object
            changing.error = error
        }
        guard
            let handlers = task.complete(
                operation?.response,
                object,
                error,
                of: operation,
                resumeData: resumeData
            )
        else { return session.conclude() }
        let hooks = session.hooks.withLock { $0 }
        let end = End(
            task: task,
            operation: operation,
            object: object,
            error: error,
            metrics: operation?.metricsOfEachTransfer ?? [],
            resumeData: resumeData,
            resumeDataHandlers: handlers
        )
        let conclude: @Sendable () -> Void = {
            self.tell(end)
            self.session.conclude()
        }
        guard hooks.didFinishCollectingMetrics != nil || hooks.didComplete != nil else { return conclude() }
        if let tell = hooks.didFinishCollectingMetrics, !end.metrics.isEmpty {
            events.append { Callback(tell, task, end.metrics) }
        }
        if let tell = hooks.didComplete { events.append { Callback(tell, task, error) } }
        events.append {
            conclude()
            return nil
        }
    }

    /// Removes what a task leaves. The complete file of one that was made from resume data, and had opened
    /// nothing yet, is that of another task from the same data.
    private func remove(_ place: TemporaryPlace, of operation: HTTPRequestOperation?) {
        let hasOpened = (operation as? DownloadOperation)?.hasOpened == true
        if hasOpened || state.withLock({ $0.resumeData == nil }) {
            place.removeAll()
        } else {
            place.removeEmptyDirectory()
        }
    }

    /// Has the task's own closures called.
    private func tell(_ end: End) {
        let (task, error) = (end.task, end.error)
        let (closures, place, original) = state.withLock { state in
            defer {
                // The operation keeps closures that refer to this.
                state.operation = nil
                state.make = nil
                state.original = nil
                // Not the last reference: there is one in `end`.
                state.held = nil
            }
            return (state.closures, state.place, state.original)
        }
        let leftover = end.resumeData == nil && !(error is SessionError) ? place : nil
        // As with `URLSession`: a file that nothing has moved is there until the handler has returned.
        let isLent = error == nil && closures.destination == nil && closures.completion != nil
        if !isLent { leftover.map { remove($0, of: end.operation) } }
        let userInfo = userInfo(end)
        if error == nil, let child = task.taskProgress.child {
            line.append { self.fill(child, of: task) }
        }
        for handler in end.resumeDataHandlers { line.appendCall { Callback(handler, end.resumeData) } }
        if let completion = closures.completion {
            line.appendCall { completion(original ?? task, task.response, end.object, error) }
        }
        line.append {
            Self.post(.taskDidComplete, task, userInfo)
            if isLent { leftover?.removeAll() }
            self.releaseClosures()
        }
        line.end()
    }

    /// Everything is told; until here, progress that waited was.
    private func releaseClosures() {
        let released = state.withLock { state in
            defer { state.closures = Closures() }
            return state.closures
        }
        withExtendedLifetime(released) {}
    }

    private func fill(_ direction: ProgressDirection, of task: SessionTask) {
        let total = task.changing.withLock { (direction == .download ? $0.received : $0.sent).total }
        TaskProgress.complete(total, task.taskProgress[direction])
    }

    private func keptBytes(_ operation: HTTPRequestOperation?, of task: SessionTask) -> Data? {
        guard task is DownloadTask else { return nil }
        guard let operation = operation as? DownloadOperation else { return state.withLock { $0.resumeData } }
        // It waited for a connection, or another operation has the file: the data is as good as before.
        guard operation.hasOpened else { return task.isUnwanted ? nil : state.withLock { $0.resumeData } }
        guard operation.keepsPartialFile else { return nil }
        return operation.checkpoint.flatMap { ResumeData(checkpoint: $0).data }
    }

    private func userInfo(_ end: End) -> [String: any Sendable] {
        var userInfo: [String: any Sendable] = [:]
        userInfo[TaskDidCompleteKey.responseSerializer] = end.operation?.responseSerializer
        userInfo[TaskDidCompleteKey.serializedResponse] = end.object
        userInfo[TaskDidCompleteKey.error] = end.error
        if end.task is DownloadTask {
            userInfo[TaskDidCompleteKey.assetPath] = end.object
        } else {
            userInfo[TaskDidCompleteKey.responseData] = end.operation?.responseData
        }
        if !end.metrics.isEmpty { userInfo[TaskDidCompleteKey.sessionTaskMetrics] = end.metrics }
        return userInfo
    }

    static func post(
        _ name: Notification.Name,
        _ task: SessionTask,
        _ userInfo: [String: any Sendable]? = nil
    ) {
        NotificationCenter.default.post(name: name, object: task, userInfo: userInfo)
    }
}

extension SessionTask {
    /// Whether it was cancelled, and nothing of it is to be kept; the last byte may have come before.
    var isUnwanted: Bool { state == .canceling && (self as? DownloadTask)?.keepsPartialFile != true }
}
