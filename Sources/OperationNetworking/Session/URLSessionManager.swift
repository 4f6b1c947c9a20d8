public import Dispatch
public import Foundation
public import Logging
internal import OperationNetworkingSystem

/// Makes tasks, runs them, and calls back: an AFNetworking 3-compatible API built on operations.
///
/// ```swift
/// let session = URLSessionManager()
/// let task = session.dataTask(with: request) { response, object, error in print(error ?? object ?? "") }
/// task.resume()
/// ```
///
/// A task is an operation in ``operationQueue``, which ``SessionTask/resume()`` puts there: it is paused and
/// resumed as one, and its closures and those of the session are called as an operation's, on ``completionQueue``,
/// in order and one at a time for each task. They are released after the last one. Everything may be called from
/// any thread.
///
/// A session needs no ``invalidateSession(cancelingTasks:resetSession:)``: when its last reference goes, the
/// tasks that run continue to their end, and the others are released.
open class URLSessionManager: @unchecked Sendable {
    // @unchecked: every stored property is an immutable Sendable; what changes lives in `current`.

    /// The settings that the session was made with.
    public var configuration: SessionConfiguration { core.configuration }
    private let current: Locked<SessionCore>
    var core: SessionCore { current.withLock { $0 } }

    /// - Parameter configuration: is copied.
    public required init(configuration: SessionConfiguration = SessionConfiguration()) {
        current = Locked(SessionCore(baseURL: nil, configuration: configuration))
    }

    /// A session from an earlier process.
    public convenience init(archive: SessionManagerArchive) {
        self.init(configuration: archive.configuration)
        restore(archive)
    }

    init(_ core: SessionCore) {
        current = Locked(core)
    }

    deinit { core.abandon() }

    // MARK: - Configuration

    /// The queue in which tasks run: a ``TransferQueue`` without a limit unless its
    /// `maxConcurrentOperationCount` is set.
    public var operationQueue: OperationQueue { core.operations.operationQueue }

    /// Parses responses. Defaults to ``JSONResponseSerializer``. Tasks that are made from now on have it, apart
    /// from downloads: any successful response is saved.
    public var responseSerializer: any ResponseSerializer {
        get { core.operations.responseSerializer }
        _modify { yield &core.operations.responseSerializer }
        set { core.operations.responseSerializer = newValue }
    }

    /// The queue of closures and notifications of tasks that are made from now on; `nil`: the main queue. A process
    /// that never runs its main queue has to set this if it has closures called: see
    /// ``ConnectionOperation/completionQueue``.
    public var completionQueue: DispatchQueue? {
        get { core.operations.completionQueue }
        set { core.operations.completionQueue = newValue }
    }

    /// The group that each callback of a task enters while it waits for its queue and runs.
    public var completionGroup: DispatchGroup? {
        get { core.operations.completionGroup }
        set { core.operations.completionGroup = newValue }
    }

    /// The logger of the tasks' operations: see ``OperationManager/logger``.
    public var logger: Logger? {
        get { core.operations.logger }
        set { core.operations.logger = newValue }
    }

    /// Notifies `observer` of what happens to the operations of tasks that are made from now on: starts, retries,
    /// redirects, progress and ends, as ``OperationManager/addObserver(_:)`` does.
    ///
    /// Only read the operation, as for its request, response and metrics: commands, closures and settings belong
    /// to the task. The closures of the session, such as that of ``setTaskDidComplete(_:)``, receive the task
    /// instead.
    ///
    /// The session keeps the observer until it is removed, invalidated or not. A copy of the session has it;
    /// an archive has not.
    ///
    /// - Returns: what removes it; it need not be kept.
    @discardableResult
    public func addObserver(_ observer: any OperationObserver) -> OperationObservation {
        core.operations.addObserver(observer)
    }

    /// Removes `observer`, from tasks that run, too. An event that is already being delivered still reaches it.
    public func removeObserver(_ observer: any OperationObserver) {
        core.operations.removeObserver(observer)
    }

    // MARK: - Tasks

    /// The tasks that have not completed, in the order in which they were made. Waits for nothing.
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

    /// Lets the session take no more tasks. When the last of its tasks has completed, the closure of
    /// ``setSessionDidBecomeInvalid(_:)`` is called and `urlSessionDidInvalidate` is posted; the session is
    /// kept until then.
    ///
    /// A task that is made afterwards fails with ``SessionError/invalidated`` when it is resumed, unless the
    /// session is reset.
    ///
    /// - Parameters:
    ///   - cancelingTasks: whether the tasks are cancelled; if not, they continue, and one that is suspended
    ///     keeps the session valid until it was resumed or cancelled.
    ///   - resetSession: whether the manager continues with a new session, which has the same settings and
    ///     closures, no tasks, and its own identifiers.
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
            let tell = hooks.didBecomeInvalid.map { Callback($0, nil) }
            old.operations.callBack(tell) {
                NotificationCenter.default.post(name: .urlSessionDidInvalidate, object: self)
            }
        }
        guard cancelingTasks else { return }
        for task in old.tasks { task.cancel() }
    }

    // MARK: - Archives and copies

    /// The settings to be kept for a later process.
    ///
    /// - Throws: `EncodingError` when a serializer is of a kind of your own that is no
    ///   ``ArchivableResponseSerializer``, or decodes values of a type: set it again in the later process.
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

    /// Gives another session the settings of this one.
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

    /// A copy as by `copy()`, with its type: the same settings and closures, and no tasks.
    open func copied() -> Self {
        let copy = type(of: self).init(configuration: configuration)
        copySettings(to: copy)
        return copy
    }
}

// MARK: - NSCopying

/// Another session with the same settings and closures, and no tasks.
extension URLSessionManager: NSCopying {}

// MARK: - TransferConfigurable

extension URLSessionManager: TransferConfigurable {
    /// Reads the settings of the transfers of tasks.
    public func readTransferSettings<Value>(_ body: (TransferSettings) -> Value) -> Value {
        core.operations.readTransferSettings(body)
    }

    /// Changes the settings of the transfers of tasks that are made from now on.
    public func changeTransferSettings(
        named setting: StaticString,
        _ body: (inout TransferSettings) -> Void
    ) {
        core.operations.changeTransferSettings(named: setting, body)
    }
}

extension URLSessionManager {
    /// The number of connections to one scheme, host and port that may carry the session's transfers: see
    /// ``OperationManager/maximumConnectionsPerHost``.
    public var maximumConnectionsPerHost: Int {
        get { core.operations.maximumConnectionsPerHost }
        set { core.operations.maximumConnectionsPerHost = newValue }
    }
}

// MARK: - CustomStringConvertible

extension URLSessionManager: CustomStringConvertible {
    /// The base URL, and the number of tasks.
    public var description: String {
        let address = core.operations.baseURL?.publicText ?? "no base URL"
        return "<\(type(of: self)): \(address), \(tasks.count) tasks>"
    }
}

// MARK: - CustomReflectable

extension URLSessionManager: CustomReflectable {
    /// Only the ``description``: `dump` would show credentials.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
