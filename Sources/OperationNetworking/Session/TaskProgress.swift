import Foundation
internal import OperationNetworkingSystem

/// The two `Progress` objects of a task. One that is a child is written on the completion queue, where the
/// owner of its parent may use the tree; the other one at once.
struct TaskProgress: Sendable {
    let upload: Progress
    let download: Progress
    /// The task that they command.
    let target: ProgressTarget
    /// The direction whose progress is a child, if there was a parent.
    let child: ProgressDirection?

    /// Made on the thread of the task's maker: one of them becomes a child of that thread's current progress.
    init(countsUpload: Bool) {
        let parent = Progress.current()
        let target = ProgressTarget()
        self.target = target
        child = parent == nil ? nil : countsUpload ? .upload : .download
        // To become a child writes to the parent, which the end of another child may do now.
        (upload, download) = ReportedProgress.write {
            let upload = Progress(parent: countsUpload ? parent : nil, userInfo: nil)
            let download = Progress(parent: countsUpload ? nil : parent, userInfo: nil)
            for progress in [upload, download] {
                progress.totalUnitCount = -1
                Self.control(target, by: progress)
            }
            return (upload, download)
        }
    }

    subscript(direction: ProgressDirection) -> Progress {
        direction == .download ? download : upload
    }

    /// Lets a progress command the task, once and for all: an owner may call it while the task becomes
    /// another one, and Foundation's handlers have no lock.
    private static func control(_ target: ProgressTarget, by progress: Progress) {
        progress.isCancellable = true
        progress.isPausable = true
        progress.cancellationHandler = { target.tell { $0.cancel() } }
        // Foundation calls these in any order: what the progress is now counts.
        let follow: @Sendable () -> Void = { [weak progress] in
            let isPaused = progress?.isPaused == true
            target.tell { if isPaused { $0.suspend() } else { $0.resume() } }
        }
        progress.pausingHandler = follow
        progress.resumingHandler = follow
    }

    /// A total of -1: unknown.
    static func report(_ completed: Int64, of total: Int64, to progress: Progress) {
        let total = ReportedProgress.shown(total: total)
        ReportedProgress.write {
            let totalIsFirst = ReportedProgress.totalComesFirst(total, progress.completedUnitCount)
            if totalIsFirst, total != progress.totalUnitCount { progress.totalUnitCount = total }
            progress.completedUnitCount = completed
            if total != progress.totalUnitCount { progress.totalUnitCount = total }
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

/// The task that progress objects command; it may become another one.
final class ProgressTarget: Sendable {
    private struct Aim {
        weak var task: (any ProgressControllable)?
    }

    private let aim = Locked(Aim())

    /// Commands go to `task` from now on.
    func become(_ task: any ProgressControllable) {
        aim.withLock { $0.task = task }
    }

    /// A task that became another one during the command may not have taken it; one that did takes it twice.
    func tell(_ command: (any ProgressControllable) -> Void) {
        let task = aim.withLock { $0.task }
        if let task { command(task) }
        if let now = aim.withLock({ $0.task }), now !== task { command(now) }
    }
}
