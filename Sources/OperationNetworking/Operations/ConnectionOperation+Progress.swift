public import Foundation
internal import OperationNetworkingSystem

// Made when they are asked for: an operation has none before.
extension ConnectionOperation {
    /// The bytes of the response's body, with those from before a resumption.
    ///
    /// The same object each time. When it is first asked for it becomes a child of the thread's current
    /// progress (`becomeCurrent(withPendingUnitCount:)`). Cancelling, pausing and resuming it, or a parent,
    /// acts on the operation. `totalUnitCount` is -1 as long as the length is unknown; when the operation
    /// succeeds the progress is complete, before its closures are called. Ask before the operation starts:
    /// bytes count from then on.
    ///
    /// The counts can be read on any thread at any time. What a parent has of them changes on
    /// ``completionQueue`` (the main queue unless that is set), at most 20 times a second, since Foundation's
    /// progress has no lock on Linux: use a parent there only.
    public var downloadProgress: Progress { outlets.progress(.download) }

    /// The bytes of the request's body: as ``downloadProgress``.
    public var uploadProgress: Progress { outlets.progress(.upload) }

    /// The bytes of the response's body, as they come: each new value until the operation has finished; at
    /// most 20 a second. A reader that is slow gets the newest only. It needs no completion
    /// queue.
    ///
    /// ```swift
    /// for await progress in operation.downloadUpdates { bar.fraction = progress.fraction ?? 0 }
    /// ```
    public var downloadUpdates: AsyncStream<TransferProgress> { outlets.updates(.download) }

    /// The bytes of the request's body: as ``downloadUpdates``.
    public var uploadUpdates: AsyncStream<TransferProgress> { outlets.updates(.upload) }

    /// The progress of a direction. If it was not asked for before, it becomes a child of the thread's current
    /// progress, or of none.
    func progress(_ direction: ProgressDirection, isChild: Bool) -> Progress {
        outlets.progress(direction, below: isChild ? Progress.current() : nil)
    }

    /// Counts bytes from here on, also if no progress is asked for.
    func countBytes() {
        _ = outlets
    }

    /// The bytes of a direction; `nil`: none were counted.
    func countedBytes(_ direction: ProgressDirection) -> TransferProgress? { outlets.last(direction) }

    private var outlets: ProgressOutlets {
        let (outlets, isNew) = state.withLock { state in
            if let outlets = state.outlets { return (outlets, false) }
            let outlets = ProgressOutlets(
                ReportedProgress.Controls(
                    cancel: { [weak self] in self?.cancel() },
                    pause: { [weak self] in self?.pause() },
                    resume: { [weak self] in self?.resume() }
                ),
                queue: { [weak self] in self?.completionQueue ?? .main }
            )
            state.outlets = outlets
            return (outlets, true)
        }
        if isNew {
            whenFinished { [weak self] in outlets.finish(isSuccess: self?.error == nil && self != nil) }
        }
        return outlets
    }
}
