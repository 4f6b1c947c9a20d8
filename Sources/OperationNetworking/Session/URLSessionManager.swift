public import Dispatch
public import Foundation
public import Logging
internal import OperationNetworkingSystem

/// Makes and runs tasks: an AFNetworking 3-compatible API built on operations.
///
/// ```swift
/// let session = URLSessionManager()
/// let task = session.dataTask(with: request) { response, object, error in print(error ?? object ?? "") }
/// task.resume()
/// ```
///
/// A task is an operation that ``SessionTask/resume()`` adds to ``operationQueue``. It is paused and resumed
/// like an operation, and its closures and those of the session are called like an operation's: on
/// ``completionQueue``, in order and one at a time for each task. They are released after the last callback.
/// Every member can be used from any thread.
///
/// A session does not have to be invalidated: when its last reference is released, running tasks continue
/// until they complete, and the others are released.
open class URLSessionManager: @unchecked Sendable {
    // @unchecked: every stored property is an immutable Sendable; what changes lives in `current`.

    /// The settings that the session was created with.
    public var configuration: SessionConfiguration { core.configuration }
    private let current: Locked<SessionCore>
    var core: SessionCore { current.withLock { $0 } }

    /// - Parameter configuration: copied.
    public required init(configuration: SessionConfiguration = SessionConfiguration()) {
        current = Locked(SessionCore(baseURL: nil, configuration: configuration))
    }

    /// Restores a session from an earlier process.
    public convenience init(archive: SessionManagerArchive) {
        self.init(configuration: archive.configuration)
        restore(archive)
    }

    // A designated initializer that no other module knows of would keep subclasses there from inheriting any.
    @usableFromInline
    init(_ core: SessionCore) {
        current = Locked(core)
    }

    deinit { core.abandon() }

    // MARK: - Configuration

    /// The queue in which tasks run: a ``TransferQueue`` without a limit unless its
    /// `maxConcurrentOperationCount` is set.
    public var operationQueue: OperationQueue { core.operations.operationQueue }

    /// Parses responses. Defaults to ``JSONResponseSerializer``. Used by tasks that are made from now on,
    /// except downloads, which save any successful response.
    public var responseSerializer: any ResponseSerializer {
        get { core.operations.responseSerializer }
        _modify { yield &core.operations.responseSerializer }
        set { core.operations.responseSerializer = newValue }
    }

    /// The queue of closures and notifications of tasks that are made from now on; `nil` (the default) is the
    /// main queue. A process that never runs its main queue must set this if it uses closures: see
    /// ``ConnectionOperation/completionQueue``.
    public var completionQueue: DispatchQueue? {
        get { core.operations.completionQueue }
        set { core.operations.completionQueue = newValue }
    }

    /// The group that each callback of a task enters while it waits for its queue and runs. It is empty before a
    /// task's first callback and between callbacks; to wait for tasks, enter it yourself until they complete.
    public var completionGroup: DispatchGroup? {
        get { core.operations.completionGroup }
        set { core.operations.completionGroup = newValue }
    }

    /// The logger of the tasks' operations: see ``OperationManager/logger``.
    public var logger: Logger? {
        get { core.operations.logger }
        set { core.operations.logger = newValue }
    }

    /// Adds an observer of the operations of tasks that are made from now on: starts, retries, redirects,
    /// progress and ends. See ``OperationManager/addObserver(_:)``.
    ///
    /// The observer should only read the operation, for example its request, response and metrics: commands,
    /// closures and settings belong to the task. The closures of the session, such as that of
    /// ``setTaskDidComplete(_:)``, receive the task instead.
    ///
    /// The session retains the observer until it is removed, even if the session is invalidated. A copy of
    /// the session has the observer; an archive does not.
    ///
    /// - Returns: an object that removes the observer; it need not be kept.
    @discardableResult
    public func addObserver(_ observer: any OperationObserver) -> OperationObservation {
        core.operations.addObserver(observer)
    }

    /// Removes `observer`, also from running tasks. An event that is already being delivered still reaches
    /// it.
    public func removeObserver(_ observer: any OperationObserver) {
        core.operations.removeObserver(observer)
    }

    // MARK: - Tasks

    /// The tasks that have not completed, in order of creation. Does not block.
    public var tasks: [SessionTask] { core.tasks }

    /// The ``tasks`` that are neither uploads nor downloads.
    public var dataTasks: [DataTask] { tasks.compactMap { $0 is UploadTask ? nil : $0 as? DataTask } }

    /// The ``tasks`` that are uploads.
    public var uploadTasks: [UploadTask] { tasks.compactMap { $0 as? UploadTask } }

    /// The ``tasks`` that are downloads.
    public var downloadTasks: [DownloadTask] { tasks.compactMap { $0 as? DownloadTask } }

    /// The progress of sending the task's body.
    public func uploadProgress(for task: SessionTask) -> Progress { task.uploadProgress }

    /// The progress of receiving the task's response.
    public func downloadProgress(for task: SessionTask) -> Progress { task.downloadProgress }

    // MARK: - The end of the session

    /// Invalidates the session: it accepts no more tasks. When the last of its tasks has completed, the
    /// closure of ``setSessionDidBecomeInvalid(_:)`` is called and `urlSessionDidInvalidate` is posted; the
    /// session is retained until then.
    ///
    /// A task that is made afterwards fails with ``SessionError/invalidated`` when it is resumed, unless the
    /// session is reset.
    ///
    /// - Parameters:
    ///   - cancelingTasks: whether the tasks are cancelled. If not, they continue, and a suspended task keeps
    ///     the session valid until it is resumed or cancelled, and completes.
    ///   - resetSession: whether the manager continues with a new session with the same settings and
    ///     closures, no tasks, and its own task identifiers.
    public func invalidateSession(cancelingTasks: Bool, resetSession: Bool = false) {
        let old = current.withLock { core in
            defer { if resetSession { core = SessionCore(replacing: core) } }
            return core
        }
        old.invalidate { [self] in
            let hooks = old.hooks.withLock { hooks in
                defer {
                    hooks.sessions -= 1
                    if hooks.sessions == 0 { hooks.copy(SessionHooks()) }
                }
                return hooks
            }
            let call = hooks.didBecomeInvalid.map { Callback($0, nil) }
            old.operations.callBack(call) {
                NotificationCenter.default.post(name: .urlSessionDidInvalidate, object: self)
            }
        }
        guard cancelingTasks else { return }
        for task in old.tasks { task.cancel() }
    }

    // MARK: - Archives and copies

    /// An archive of the settings, for a later process.
    ///
    /// - Throws: `EncodingError` if a custom serializer is not an ``ArchivableResponseSerializer``, or a
    ///   serializer decodes values of a type: set it again in the later process.
    public var archive: SessionManagerArchive {
        get throws {
            SessionManagerArchive(configuration: configuration, settings: try core.operations.archive)
        }
    }

    func restore(_ archive: SessionManagerArchive) {
        let restored = OperationManager(archive: archive.settings)
        let state = restored.state.withLock { $0 }
        core.operations.state.change { [state] in $0 = state }
        core.operations.requestSerializer = restored.requestSerializer
    }

    /// Copies the settings of this session to another one.
    func copySettings(to copy: URLSessionManager) {
        let settings = core.operations.state.withLock { $0 }
        copy.core.operations.state.change { [settings] state in
            let queue = state.operationQueue
            state = settings
            state.operationQueue = queue
            state.settings.connectionLimit = settings.settings.connectionLimit.copy()
            state.observers = settings.observers.copied()
        }
        copy.core.operations.requestSerializer = core.operations.requestSerializer
        let hooks = core.hooks.withLock { $0 }
        copy.core.hooks.change { [hooks] in $0.copy(hooks) }
    }

    /// See `NSCopying`.
    open func copy(with zone: NSZone? = nil) -> Any { copied() }

    /// Returns a copy, as `copy()` does, with its type: the same settings and closures, and no tasks.
    open func copied() -> Self {
        let copy = type(of: self).init(configuration: configuration)
        copySettings(to: copy)
        return copy
    }
}

// MARK: - NSCopying

/// A copy has the same settings and closures, and no tasks.
extension URLSessionManager: NSCopying {}

// MARK: - TransferConfigurable

extension URLSessionManager: TransferConfigurable {
    /// Reads the transfer settings of tasks.
    public func readTransferSettings<Value>(_ body: (TransferSettings) -> Value) -> Value {
        core.operations.readTransferSettings(body)
    }

    /// Changes the transfer settings of tasks that are made from now on.
    public func changeTransferSettings(
        named setting: StaticString,
        _ body: (inout TransferSettings) -> Void
    ) {
        core.operations.changeTransferSettings(named: setting, body)
    }
}

extension URLSessionManager {
    /// The maximum number of connections to one scheme, host and port that carry the session's transfers: see
    /// ``OperationManager/maximumConnectionsPerHost``.
    public var maximumConnectionsPerHost: Int {
        get { core.operations.maximumConnectionsPerHost }
        set { core.operations.maximumConnectionsPerHost = newValue }
    }
}

// MARK: - CustomStringConvertible

extension URLSessionManager: CustomStringConvertible {
    /// The base URL and the number of tasks.
    public var description: String {
        let address = core.operations.baseURL?.publicText ?? "no base URL"
        return "<\(type(of: self)): \(address), \(tasks.count) tasks>"
    }
}

// MARK: - CustomReflectable

extension URLSessionManager: CustomReflectable {
    /// Only the ``description``, so that `dump` does not show credentials.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
