import Foundation
internal import OperationNetworkingSystem

/// The two `Progress` objects of a task.
struct TaskProgress: Sendable {
    /// Foundation's objects have no lock on Linux, and tasks of several sessions may report to one parent.
    /// The value means nothing; an empty one would be where ThreadSanitizer sees the lock.
    private static let writing = Locked(false)

    let upload: Progress
    let download: Progress

    /// Made on the thread of the task's maker: one of them becomes a child of that thread's current progress.
    init(countsUpload: Bool) {
        let parent = Progress.current()
        // To become a child writes to the parent, which the end of another child may do now.
        (upload, download) = Self.writing.withLock { _ in
            let upload = Progress(parent: countsUpload ? parent : nil, userInfo: nil)
            let download = Progress(parent: countsUpload ? nil : parent, userInfo: nil)
            upload.totalUnitCount = -1
            download.totalUnitCount = -1
            return (upload, download)
        }
    }

    /// The progress of a task that becomes another one.
    init(upload: Progress, download: Progress) {
        self.upload = upload
        self.download = download
    }

    /// Lets the objects command the task.
    func control(_ task: any ProgressControllable) {
        for progress in [upload, download] {
            progress.isCancellable = true
            progress.isPausable = true
            progress.cancellationHandler = { [weak task] in task?.cancel() }
            // Foundation calls these in any order: what the progress is now counts.
            let follow: @Sendable () -> Void = { [weak task, weak progress] in
                if progress?.isPaused == true { task?.suspend() } else { task?.resume() }
            }
            progress.pausingHandler = follow
            progress.resumingHandler = follow
        }
    }

    /// A total of -1: unknown.
    static func report(_ completed: Int64, of total: Int64, to progress: Progress) {
        writing.withLock { _ in
            // The total first: the fraction is never more than 1.
            if total != progress.totalUnitCount { progress.totalUnitCount = total }
            progress.completedUnitCount = completed
        }
    }

    /// The progress is complete, whatever its length.
    static func complete(_ completed: Int64, _ progress: Progress) {
        // A body of no bytes is complete, too, and 0 of 0 is not.
        report(max(1, completed), of: max(1, completed), to: progress)
    }
}

/// A task, as its progress sees it.
protocol ProgressControllable: AnyObject, Sendable {
    func resume()
    func suspend()
    func cancel()
}
