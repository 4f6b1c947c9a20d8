import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// The parts of a session that its tasks retain: settings, closures, the queue, and the tasks themselves. So
/// a manager can be released while its tasks run.
///
/// Tasks are retained until they complete, except those that are suspended after the manager was released:
/// they would never complete.
@usableFromInline
final class SessionCore: Sendable {
    private struct Entry {
        weak var task: SessionTask?
        /// Whether the session was valid when the task was made.
        var isListed = true
        var kept: SessionTask?
    }

    private struct State {
        var lastIdentifier = 0
        /// The tasks that have not completed.
        var entries: [Int: Entry] = [:]
        /// The number of completed tasks whose callbacks are pending.
        var undelivered = 0
        var isValid = true
        var isAbandoned = false
        var whenInvalid: (@Sendable () -> Void)?

        /// - Returns: the closure to call if the session has become invalid.
        mutating func takeEnd() -> (@Sendable () -> Void)? {
            // A task that was made since may never be resumed.
            let hasTasks = entries.values.contains(where: \.isListed)
            guard !isValid, !hasTasks, undelivered == 0 else { return nil }
            defer { whenInvalid = nil }
            return whenInvalid
        }
    }

    /// Keeps a session from becoming invalid until the callbacks of a task have been called or dropped.
    final class EndToken: Sendable {
        private let session: SessionCore

        fileprivate init(_ session: SessionCore) {
            self.session = session
        }

        deinit {
            let end = session.state.withLock { state in
                state.undelivered -= 1
                return state.takeEnd()
            }
            end?()
        }
    }

    let configuration: SessionConfiguration
    /// Holds the settings and the queue, and makes the requests and operations.
    let operations: OperationManager
    let hooks: Locked<SessionHooks>
    private let state = Locked(State())

    init(baseURL: URL?, configuration: SessionConfiguration) {
        self.configuration = configuration
        operations = OperationManager(baseURL: baseURL)
        hooks = Locked(SessionHooks())
        var settings = configuration.settings
        settings.connectionLimit = ConnectionLimit(configuration.maximumConnectionsPerHost)
        operations.state.change { [settings] in $0.settings = settings }
    }

    /// Creates a session with the settings, queue and closures of an old one, and no tasks.
    init(replacing old: SessionCore) {
        configuration = old.configuration
        operations = old.operations
        hooks = old.hooks
        hooks.withLock { $0.sessions += 1 }
    }

    // MARK: - Tasks

    /// The tasks that have not completed, in order of creation.
    var tasks: [SessionTask] {
        let tasks = state.withLock { state in
            state.entries.filter(\.value.isListed).sorted { $0.key < $1.key }.compactMap { $0.value.task }
        }
        return tasks.filter { $0.state != .completed }
    }

    func nextIdentifier() -> Int {
        state.withLock { state in
            state.lastIdentifier += 1
            return state.lastIdentifier
        }
    }

    /// - Returns: whether the session accepts new tasks.
    func add(_ task: SessionTask) -> Bool {
        state.withLock { state in
            state.entries[task.taskIdentifier] = Entry(
                task: task,
                isListed: state.isValid,
                kept: state.isValid && !state.isAbandoned ? task : nil
            )
            return state.isValid
        }
    }

    /// Retains a task until it completes.
    func keep(_ task: SessionTask) {
        state.withLock { $0.entries[task.taskIdentifier]?.kept = task }
    }

    /// Releases a task that was suspended, if the manager has been released.
    func releaseIfAbandoned(_ task: SessionTask) {
        state.withLock { state in
            if state.isAbandoned, task.state == .suspended { state.entries[task.taskIdentifier]?.kept = nil }
        }
    }

    /// Releases suspended tasks, because the manager was released.
    func abandon() {
        let released = state.withLock { state in
            state.isAbandoned = true
            let suspended = state.entries.values.compactMap(\.kept).filter { $0.state == .suspended }
            for task in suspended { state.entries[task.taskIdentifier]?.kept = nil }
            return suspended
        }
        withExtendedLifetime(released) {}
    }

    /// Removes a completed task. The returned token is released when its callbacks have been called.
    func remove(_ task: SessionTask) -> EndToken {
        state.withLock { state in
            state.undelivered += 1
            state.entries[task.taskIdentifier] = nil
        }
        return EndToken(self)
    }

    /// Removes a task that was released before it completed.
    func forget(_ identifier: Int) {
        let end = state.withLock { state in
            state.entries[identifier] = nil
            return state.takeEnd()
        }
        end?()
    }

    /// - Parameter whenInvalid: called once, when the last task has completed, on any thread.
    func invalidate(_ whenInvalid: @escaping @Sendable () -> Void) {
        let end = state.withLock { state in
            guard state.isValid else { return nil as (@Sendable () -> Void)? }
            state.isValid = false
            state.whenInvalid = whenInvalid
            return state.takeEnd()
        }
        end?()
    }

    // MARK: - Requests

    /// Returns the request with the session's fields and timeout.
    /// - Throws: ``RequestSerializationError`` for an additional field that cannot be sent.
    func prepare(_ request: URLRequest) throws(RequestSerializationError) -> URLRequest {
        var request = request
        for (name, value) in fields(for: request) {
            // Foundation silently drops a value that contains a line break.
            try RequestSerializationError.check(name: name, value: value)
            request.setValue(value, forHTTPHeaderField: name)
        }
        if let timeout = configuration.requestTimeout, request.timeoutInterval == Self.foundationTimeout {
            request.timeoutInterval = timeout
        }
        return request
    }

    /// Returns the additional fields that the request does not have and is allowed to have.
    private func fields(for request: URLRequest) -> [String: String] {
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

    /// The `timeoutInterval` of a `URLRequest` by default.
    private static let foundationTimeout: TimeInterval = 60
}
