import Dispatch
import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// The parts of a session that its tasks keep: settings, hooks, queues, and the tasks themselves.
///
/// A manager has one, and each task has it, too; so a manager can be released while its tasks run.
final class SessionCore: Sendable {
    let configuration: SessionConfiguration
    /// Has the settings, makes the requests, and makes the operations.
    let operations: OperationManager
    /// Commands to operations, in order: `start()` may wait for a cookie storage.
    let workQueue: DispatchQueue
    /// Events of operations, one at a time.
    let delegateQueue: DispatchQueue
    /// The face of ``delegateQueue``.
    let operationQueue: OperationQueue
    let hooks: Locked<SessionHooks>
    private let tasks = Locked(TaskRegistry<SessionTask>())
    /// Called when the session becomes invalid.
    private let whenInvalid = Locked<(@Sendable () -> Void)?>(nil)
    /// Whether the manager was released.
    private let released = Locked(false)

    init(baseURL: URL?, configuration: SessionConfiguration) {
        self.configuration = configuration
        operations = OperationManager(baseURL: baseURL)
        workQueue = DispatchQueue(label: "OperationNetworking.session.work")
        delegateQueue = DispatchQueue(label: "OperationNetworking.session.delegate")
        operationQueue = OperationQueue()
        hooks = Locked(SessionHooks())
        operationQueue.name = "OperationNetworking.session"
        operationQueue.maxConcurrentOperationCount = 1
        unsafe operationQueue.underlyingQueue = delegateQueue
        var settings = configuration.settings
        settings.connectionLimit = ConnectionLimit(configuration.maximumConnectionsPerHost)
        operations.state.change { [settings] in $0.settings = settings }
    }

    /// Another session with the settings, queues and hooks of an old one, and no tasks.
    init(replacing old: SessionCore) {
        configuration = old.configuration
        operations = old.operations
        workQueue = old.workQueue
        delegateQueue = old.delegateQueue
        operationQueue = old.operationQueue
        hooks = old.hooks
        hooks.withLock { $0.join() }
    }

    /// Sets a closure of the session; not of one that is invalid.
    func changeHooks(_ set: (inout SessionHooks) -> Void) {
        hooks.change { hooks in
            if hooks.sessions > 0 { set(&hooks) }
        }
    }

    // MARK: - Tasks

    var allTasks: [SessionTask] { tasks.withLock { $0.all } }

    func nextIdentifier() -> Int { tasks.withLock { $0.nextIdentifier() } }

    /// - Returns: whether the session takes it.
    func add(_ task: SessionTask) -> Bool {
        tasks.withLock { tasks in
            // Its removal comes after the mark, so that it cannot be between the look and the entry.
            guard !task.changing.withLock({ $0.isLeaving }) else { return false }
            return tasks.add(task, task.taskIdentifier)
        }
    }

    /// A task became another one.
    func replace(_ old: SessionTask, with task: SessionTask) {
        old.changing.withLock { $0.isLeaving = true }
        tasks.withLock { $0.replace(old.taskIdentifier, with: task, task.taskIdentifier) }
    }

    /// The task has completed: it is listed no more. To be followed by ``conclude()``.
    func remove(_ task: SessionTask) {
        task.changing.withLock { $0.isLeaving = true }
        drop(task)
    }

    private func drop(_ task: SessionTask) {
        let member = tasks.withLock { $0.remove(task.taskIdentifier) }
        withExtendedLifetime(member) {}
    }

    /// A task that was removed has told everything.
    func conclude() {
        if tasks.withLock({ $0.conclude() }) { tellInvalid() }
    }

    /// - Parameter told: called once, on the delegate queue, when the last task has completed.
    func invalidate(told: @escaping @Sendable () -> Void) {
        let isInvalid = tasks.withLock { tasks in
            guard tasks.phase == .valid else { return false }
            // Before a task can be the last one.
            whenInvalid.withLock { $0 = told }
            return tasks.invalidate()
        }
        if isInvalid { tellInvalid() }
    }

    /// The manager was released: what does not run would never end. A task that is resumed after that adds
    /// itself again.
    func dropSuspendedTasks() {
        released.withLock { $0 = true }
        for task in allTasks { dropIfSuspended(task) }
    }

    /// Whether the manager was released: a task that is suspended then is its owner's alone.
    var isReleased: Bool { released.withLock { $0 } }

    func dropIfSuspended(_ task: SessionTask) {
        guard task.state == .suspended else { return }
        drop(task)
        conclude()
        // It may have been resumed or cancelled, and have added itself, before.
        if task.state != .suspended { _ = add(task) }
    }

    private func tellInvalid() {
        let told = whenInvalid.withLock { told in
            defer { told = nil }
            return told
        }
        if let told { delegateQueue.async(execute: told) }
    }

    // MARK: - Requests

    /// The request with the session's fields and timeout.
    /// - Throws: ``RequestSerializationError`` for an additional field that cannot be sent.
    func prepare(_ request: URLRequest) throws(RequestSerializationError) -> URLRequest {
        var request = request
        for (name, value) in fields(for: request) {
            // Foundation drops a value with a line end in it, and says nothing.
            try RequestSerializationError.check(name: name, value: value)
            request.setValue(value, forHTTPHeaderField: name)
        }
        if let timeout = configuration.requestTimeout, request.timeoutInterval == Self.foundationTimeout {
            request.timeoutInterval = timeout
        }
        return request
    }

    /// The additional fields that the request does not have, and may have.
    func fields(for request: URLRequest) -> [String: String] {
        var extra = configuration.additionalHeaders
        guard !extra.isEmpty else { return [:] }
        extra = extra.filter { request.value(forHTTPHeaderField: $0.key) == nil }
        let scope = operations.secretHeaderScope
        if let url = request.url, !scope.includes(url, base: operations.baseURL) {
            let names = Set(operations.redirectPolicy.fieldsOfOneOrigin.map { $0.lowercased() })
            extra = extra.filter { !names.contains($0.key.lowercased()) }
        }
        return extra
    }

    /// The `timeoutInterval` of a `URLRequest` on which none was set.
    private static let foundationTimeout: TimeInterval = 60
}
