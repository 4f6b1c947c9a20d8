public import Foundation
internal import OperationNetworkingSystem

// Progress objects, created on demand.
extension ConnectionOperation {
    /// The progress of the response's body in bytes, including those received before a resumption.
    ///
    /// The same object each time. When it is first used, it becomes a child of the thread's current progress
    /// (`becomeCurrent(withPendingUnitCount:)`). Cancelling, pausing and resuming it, or a parent, acts on
    /// the operation. `totalUnitCount` is -1 while the length is unknown. When the operation succeeds, the
    /// progress is complete before its closures are called. Use it before the operation starts: bytes are
    /// counted from the first use on.
    ///
    /// The counts can be read on any thread at any time. A parent's counts change on ``completionQueue`` (by
    /// default the main queue), at most 20 times a second. Foundation's progress has no lock on Linux, so use
    /// a parent only there.
    public var downloadProgress: Progress { outlets.progress(.download) }

    /// The progress of the request's body in bytes: see ``downloadProgress``.
    public var uploadProgress: Progress { outlets.progress(.upload) }

    /// The progress of the response's body: each new value until the operation has finished, at most 20 a
    /// second. A slow reader receives only the newest value. Needs no completion queue.
    ///
    /// ```swift
    /// for await progress in operation.downloadUpdates { bar.fraction = progress.fraction ?? 0 }
    /// ```
    public var downloadUpdates: AsyncStream<TransferProgress> { outlets.updates(.download) }

    /// The progress of the request's body: see ``downloadUpdates``.
    public var uploadUpdates: AsyncStream<TransferProgress> { outlets.updates(.upload) }

    /// The progress of a direction. If it is created now, it becomes a child of the thread's current progress
    /// if `isChild`.
    func progress(_ direction: ProgressDirection, isChild: Bool) -> Progress {
        outlets.progress(direction, below: isChild ? Progress.current() : nil)
    }

    /// Counts bytes from now on, even if no progress object is used.
    func countBytes() {
        _ = outlets
    }

    /// The counted bytes of a direction; `nil` if none were counted.
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
