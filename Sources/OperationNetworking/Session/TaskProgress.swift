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
            (
                CommandingProgress(target, parent: countsUpload ? parent : nil),
                CommandingProgress(target, parent: countsUpload ? nil : parent)
            )
        }
    }

    /// Whether one of them was cancelled, or had a cancelled parent when it was made.
    var isCancelled: Bool { upload.isCancelled || download.isCancelled }

    /// Whether one of them is paused.
    var isPaused: Bool { upload.isPaused || download.isPaused }

    subscript(direction: ProgressDirection) -> Progress {
        direction == .download ? download : upload
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

/// A `Progress` that commands a task: a command to it, or to a parent, has reached the task when it returns.
///
/// Foundation's handlers are called later, on any thread and in any order, and have no lock: the user may set
/// them.
private final class CommandingProgress: Progress, @unchecked Sendable {
    // @unchecked: as `Progress`; what is of this class never changes.

    private let target: ProgressTarget

    // A `parent` that is cancelled, or paused, says so at once, when there is no task yet: the task asks when
    // it is made.
    init(_ target: ProgressTarget, parent: Progress?) {
        self.target = target
        super.init(parent: parent, userInfo: nil)
        isCancellable = true
        isPausable = true
        totalUnitCount = -1
    }

    override func cancel() {
        super.cancel()
        target.tell { $0.cancel() }
    }

    override func pause() {
        super.pause()
        target.tell { $0.hold() }
    }

    override func resume() {
        super.resume()
        target.tell { $0.release() }
    }
}

/// A task, as its progress sees it.
protocol ProgressControllable: AnyObject, Sendable {
    /// Called when the progress is paused.
    func hold()

    /// Called when the progress goes on.
    func release()

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
