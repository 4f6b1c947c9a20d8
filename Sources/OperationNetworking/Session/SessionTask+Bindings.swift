internal import OperationNetworkingSystem

extension SessionTask {
    /// Has a listener told whether the task runs now, and what happens from now on.
    func add(_ ear: TaskEar) {
        changing.withLock { state in
            let phase = state.machine.phase
            // Under the lock, under which resumptions and suspensions are queued: none comes in between.
            if phase != .completed { owner.add(ear) }
            owner.callBack { ear.hear(.isRunning(phase == .running)) }
            if phase == .completed { owner.callBack { ear.hear(.didComplete) } }
        }
    }
}

// MARK: - Bindings

extension ProgressBinding {
    /// Binds a task of a session.
    ///
    /// - Parameters:
    ///   - task: one that has not completed: later there is no progress.
    ///   - direction: the response's body, unless given.
    ///   - target: not retained.
    ///   - update: called on the session's `completionQueue`, at most 20 times a second, and once with the
    ///     last value before the task's completion handler. One that is written in main-actor code is called
    ///     on the main queue.
    @discardableResult
    public convenience init<Target: AnyObject & Sendable>(
        of task: SessionTask,
        _ direction: Direction = .download,
        to target: Target,
        @_inheritActorContext update: @escaping @isolated(any) @Sendable (Target, TransferProgress) -> Void
    ) {
        self.init(direction, to: target, update: update) { [weak task] binding in
            task?.owner.removeEar(of: ObjectIdentifier(binding))
        }
        task.add(
            TaskEar(listener: ObjectIdentifier(self)) { event in
                switch event {
                case .isRunning: return nil
                case .didMove(.download, let total, let expected):
                    return self.tell(.download, total, expected)
                case .didMove(.upload, let total, let expected): return self.tell(.upload, total, expected)
                case .didComplete:
                    self.finish()
                    return nil
                }
            }
        )
    }
}

extension ActivityBinding {
    /// Binds a task of a session.
    ///
    /// - Parameters:
    ///   - task: in any state.
    ///   - target: not retained.
    ///   - update: called on the session's `completionQueue`, first with the state of now, then once for each
    ///     edge: `true` while the task runs, `false` while it is suspended or has completed. One that is
    ///     written in main-actor code is called on the main queue.
    @discardableResult
    public convenience init<Target: AnyObject & Sendable>(
        of task: SessionTask,
        to target: Target,
        @_inheritActorContext update: @escaping @isolated(any) @Sendable (Target, _ isActive: Bool) -> Void
    ) {
        self.init(of: [task], to: target, update: update)
    }

    /// Binds several tasks: `true` while one of them runs.
    @discardableResult
    public convenience init<Target: AnyObject & Sendable>(
        of tasks: [SessionTask],
        to target: Target,
        @_inheritActorContext update: @escaping @isolated(any) @Sendable (Target, _ isActive: Bool) -> Void
    ) {
        self.init(subjects: tasks.map(Subject.init), to: target, update: update)
    }
}

extension ActivityBinding.Subject {
    init(_ task: SessionTask) {
        let identifier = ObjectIdentifier(task)
        self.identifier = identifier
        join = { [weak task] binding in
            task?.add(
                TaskEar(listener: ObjectIdentifier(binding)) { event in
                    switch event {
                    case .isRunning(let isRunning): binding.learn(identifier, isRunning)
                    case .didMove: nil
                    case .didComplete: binding.learn(identifier, false, isOver: true)
                    }
                }
            )
        }
        leave = { [weak task] binding in task?.owner.removeEar(of: ObjectIdentifier(binding)) }
    }
}
