import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// The parts of a session that its tasks keep: settings, closures, the queue, and the tasks themselves. So a
/// manager can be released while its tasks run.
///
/// Tasks are kept until their end, but for those that are suspended when the manager is gone: they would never
/// end.
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
        /// The number of tasks that have completed, and whose callbacks wait.
        var untold = 0
        var isValid = true
        var isAbandoned = false
        var whenInvalid: (@Sendable () -> Void)?

        /// - Returns: what is to be called if the session has become invalid.
        mutating func takeEnd() -> (@Sendable () -> Void)? {
            guard !isValid, entries.isEmpty, untold == 0 else { return nil }
            defer { whenInvalid = nil }
            return whenInvalid
        }
    }

    /// Lets a session become invalid only after the callbacks of a task, or when they were left out.
    final class EndToken: Sendable {
        private let session: SessionCore

        fileprivate init(_ session: SessionCore) {
            self.session = session
        }

        deinit {
            let end = session.state.withLock { state in
                state.untold -= 1
                return state.takeEnd()
            }
            end?()
        }
    }

    let configuration: SessionConfiguration
    /// Has the settings and the queue, makes the requests, and makes the operations.
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

    /// Another session with the settings, queue and closures of an old one, and no tasks.
    init(replacing old: SessionCore) {
        configuration = old.configuration
        operations = old.operations
        hooks = old.hooks
        hooks.withLock { $0.sessions += 1 }
    }

    // MARK: - Tasks

    /// The tasks that have not completed, in the order in which they were made.
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

    /// - Returns: whether the session takes new tasks.
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

    /// Keeps a task until its end.
    func keep(_ task: SessionTask) {
        state.withLock { $0.entries[task.taskIdentifier]?.kept = task }
    }

    /// A task was suspended: if the manager is gone, its owner alone keeps it.
    func releaseIfAbandoned(_ task: SessionTask) {
        state.withLock { state in
            if state.isAbandoned, task.state == .suspended { state.entries[task.taskIdentifier]?.kept = nil }
        }
    }

    /// The manager was released.
    func abandon() {
        let released = state.withLock { state in
            state.isAbandoned = true
            let suspended = state.entries.values.compactMap(\.kept).filter { $0.state == .suspended }
            for task in suspended { state.entries[task.taskIdentifier]?.kept = nil }
            return suspended
        }
        withExtendedLifetime(released) {}
    }

    /// A task has completed. Its callbacks have been called when the token is released.
    func remove(_ task: SessionTask) -> EndToken {
        state.withLock { state in
            state.untold += 1
            state.entries[task.taskIdentifier] = nil
        }
        return EndToken(self)
    }

    /// A task was released before its end.
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

    /// The `timeoutInterval` of a `URLRequest` on which none was set.
    private static let foundationTimeout: TimeInterval = 60
}
