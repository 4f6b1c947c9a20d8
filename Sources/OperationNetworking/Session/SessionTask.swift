public import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

/// An operation of a session, with the API of a `URLSessionTask`. It is created suspended: ``resume()`` adds
/// it to the session's queue. Every member can be used from any thread.
///
/// ```swift
/// let download = session.downloadTask(
///     with: URLRequest(url: try session.url(for: "big.iso")),
///     progress: { progress in print(progress.fractionCompleted) },
///     destination: { temporary, response in file },
///     completion: { response, file, error in }
/// )
/// download.resume()       // download.suspend(), download.cancel()
/// // download.cancelByProducingResumeData { data in } makes the data for another process.
/// ```
///
/// ``URLSessionManager`` makes tasks: ``DataTask``, ``UploadTask``, ``DownloadTask``. Their settings are those of
/// the session when the task was made. A session keeps its tasks until they have completed; a task keeps its
/// session's queue and closures, not the manager.
///
/// |               | Before the first `resume()`    | In the queue, or running                          | After the end |
/// |---------------|--------------------------------|---------------------------------------------------|---------------|
/// | ``state``     | suspended                      | running; suspended while paused                   | completed     |
/// | ``resume()``  | adds the operation to the queue | resumes it                                       | -             |
/// | ``suspend()`` | -                              | pauses it                                         | -             |
/// | ``cancel()``  | ends the operation at once     | cancels it; *canceling* until it has finished     | -             |
///
/// A task ends in this order: `isFinished` of the operation; the session no longer lists it; metrics,
/// `setTaskDidComplete`, the completion handler, `taskDidComplete`.
public class SessionTask: @unchecked Sendable {
    // @unchecked: every stored property is an immutable Sendable; what changes lives in `changing`.

    /// Called on the completion queue when the task has completed, with the head of the response, the object
    /// that the response serializer made from its body, and the error. If the serializer rejected the
    /// response, there may be both an object and an error.
    public typealias CompletionHandler =
        @isolated(any) @Sendable (
            _ response: HTTPURLResponse?, _ object: (any Sendable)?, _ error: (any Error)?
        ) -> Void

    /// Called on the completion queue, at most 20 times a second, and once with the final value.
    public typealias ProgressHandler = @isolated(any) @Sendable (_ progress: Progress) -> Void

    /// The states of a task.
    public enum State: Hashable, Sendable, CaseIterable {
        /// The task was resumed: its transfer runs, or waits for its queue or a connection.
        case running
        /// The task has not been resumed yet, or was suspended. Received bytes are kept.
        case suspended
        /// The task was cancelled, and has not completed yet.
        case canceling
        /// The task has ended, with or without an ``SessionTask/error``.
        case completed
    }

    /// The ``priority`` of tasks that can wait.
    public static let lowPriority: Float = 0.25
    /// The default ``priority``.
    public static let defaultPriority: Float = 0.5
    /// The ``priority`` of urgent tasks.
    public static let highPriority: Float = 0.75

    /// The state of a task that its operation does not have.
    private struct Changing {
        var isResumed = false
        var isObserved = false
        var taskDescription: String?
        var priority = SessionTask.defaultPriority
        /// Completes the configuration of the operation when the task is resumed for the first time.
        var prepare: (@Sendable () throws -> Void)?
    }

    /// Unique among the tasks of one session: 1, 2, 3 and so on.
    public let taskIdentifier: Int
    let operation: HTTPRequestOperation
    let session: SessionCore
    private let changing: Locked<Changing>

    // `prepare` is called once, when the task is resumed for the first time. If it throws, the task fails with that
    // error.
    init(
        _ operation: HTTPRequestOperation,
        in session: SessionCore,
        prepare: (@Sendable () throws -> Void)? = nil
    ) {
        taskIdentifier = session.nextIdentifier()
        self.operation = operation
        self.session = session
        changing = Locked(Changing(prepare: prepare))
    }

    deinit {
        // A suspended operation would be kept by its queue.
        if changing.withLock({ $0.isResumed }) { operation.cancel() }
        session.forget(taskIdentifier)
    }

    // MARK: - Results

    /// The request that the task was made with, with the session's additional headers.
    public var originalRequest: URLRequest { operation.request }

    /// The request that is being sent, after redirects.
    public var currentRequest: URLRequest { operation.currentRequest }

    /// The head of the last response that was not a redirect to be followed.
    public var response: HTTPURLResponse? { operation.response }

    /// Why the task failed; `nil` until it has completed. A cancelled task has `URLError.cancelled`.
    public var error: (any Error)? { operation.error }

    /// A classification of ``error``: whether it is a cancellation, its HTTP status, whether it is temporary.
    public var failure: RequestFailure? { operation.failure }

    /// The current state.
    public var state: State {
        let isResumed = changing.withLock { $0.isResumed }
        return operation.state.withLock { operation in
            if operation.machine.phase == .finished { return .completed }
            if operation.machine.isCancelled { return .canceling }
            return isResumed && !operation.machine.isPaused ? .running : .suspended
        }
    }

    /// The progress of sending the request's body. It controls the task as ``progress`` does.
    public var uploadProgress: Progress { operation.progress(.upload, isChild: false) }

    /// The progress of receiving the response's body. It controls the task as ``progress`` does.
    public var downloadProgress: Progress { operation.progress(.download, isChild: false) }

    /// The progress that became a child of the current one when the task was made: ``uploadProgress`` of an
    /// ``UploadTask``, ``downloadProgress`` of the others.
    ///
    /// Cancelling, pausing or resuming it, or one that it is part of, acts on the task. A task that is made
    /// under a cancelled progress fails with `URLError.cancelled` and sends nothing. While its progress is
    /// paused, the first ``resume()`` of a task does not start it: it starts when the progress is resumed, or
    /// when `resume()` is called once more.
    ///
    /// Its total is -1 while the length is unknown. A parent's counts change on the completion queue: see
    /// ``ConnectionOperation/downloadProgress``.
    public var progress: Progress { downloadProgress }

    /// The direction of ``progress``.
    var progressDirection: ProgressDirection { .download }

    /// The number of received bytes of the response's body, including those from before a suspension.
    public var countOfBytesReceived: Int64 { operation.countedBytes(.download)?.bytes ?? 0 }

    /// The length of the response's body; -1 if unknown.
    public var countOfBytesExpectedToReceive: Int64 { operation.countedBytes(.download)?.expected ?? -1 }

    /// The number of sent bytes of the request's body.
    public var countOfBytesSent: Int64 { operation.countedBytes(.upload)?.bytes ?? 0 }

    /// The length of the request's body; -1 if unknown.
    public var countOfBytesExpectedToSend: Int64 { operation.countedBytes(.upload)?.expected ?? -1 }

    // MARK: - Configuration

    /// A custom description. The library does not use it.
    public var taskDescription: String? {
        get { changing.withLock { $0.taskDescription } }
        set { changing.withLock { $0.taskDescription = newValue } }
    }

    /// The priority among tasks that wait for a connection, from 0 to 1. Read when the task is resumed for the
    /// first time.
    public var priority: Float {
        get { changing.withLock { $0.priority } }
        set { changing.withLock { $0.priority = newValue } }
    }

    // MARK: - Commands

    /// Starts the task, or continues it after ``suspend()``. Suspensions are not counted: one call resumes
    /// after any number of them. While its ``progress`` is paused, the first call does not start it.
    public func resume() {
        let isFirst = changing.withLock { state in
            defer { state.isResumed = true }
            return !state.isResumed
        }
        if isFirst {
            start()
        } else {
            observe()
            operation.resume()
        }
        session.keep(self)
    }

    /// Stops the transfer and keeps the received bytes. ``resume()`` requests the rest; the response is
    /// checked before its first byte is used: see ``ConnectionOperation/pause()``. Has no effect on a task
    /// that has not been resumed.
    public func suspend() {
        guard changing.withLock({ $0.isResumed }) else { return }
        operation.pause()
        session.releaseIfAbandoned(self)
    }

    /// Cancels the task, which then fails with `URLError.cancelled`, even if it was never resumed. A task
    /// that waits in the session's queue completes when the queue starts it.
    public func cancel() {
        end { operation.cancel() }
    }

    /// Cancels the operation. The task is retained until it completes.
    func end(_ cancel: () -> Void) {
        observe()
        cancel()
        session.keep(self)
    }

    // MARK: - For the session

    /// Adds the task to its session: the last step of making a task. A task under a cancelled progress ends
    /// here.
    func join() {
        if !session.add(self) { operation.refuse(SessionError.invalidated) }
        operation.postsNotifications = false
        operation.representative = self
        operation.countBytes()
        observe()
        operation.whenFinished { [weak self, removal] in if let self { didFinish() } else { removal() } }
        if Progress.current() != nil { _ = operation.progress(progressDirection, isChild: true) }
    }

    /// Adds an observer of ``uploadProgress`` or ``downloadProgress``.
    func observeProgress(_ direction: ProgressDirection, _ handler: ProgressHandler?) {
        guard let handler else { return }
        // So that it does not become a child of the current progress.
        _ = operation.progress(direction, isChild: false)
        operation.setProgress(direction, handler)
    }

    private func start() {
        // The operation may have been cancelled.
        guard operation.reserve() else { return }
        let (prepare, priority) = changing.withLock { state in
            defer { state.prepare = nil }
            return (state.prepare, state.priority)
        }
        operation.queuePriority = Operation.QueuePriority(taskPriority: priority)
        do {
            try prepare?()
        } catch {
            operation.refuse(error)
        }
        observe()
        installHooks()
        session.operations.operationQueue.addOperation(operation)
    }

    /// Adds the observer for the session's closures, if there are any.
    private func observe() {
        guard session.hooks.withLock({ $0.hasEventClosures }) else { return }
        let isFirst = changing.withLock { state in
            defer { state.isObserved = true }
            return !state.isObserved
        }
        if isFirst { operation.addObserver(HookObserver(of: self)) }
    }

    /// Called when the operation has finished; its callbacks may be pending.
    func didFinish() {
        let token = session.remove(self)
        operation.deliver(
            Callback(about: self) { task in
                task.post(.taskDidComplete, task.completionInfo)
                task.didDeliverEnd()
                withExtendedLifetime(token) {}
            }
        )
    }

    /// Called when the completion handler has returned.
    func didDeliverEnd() {}

    /// Cleans up after a task that was released before it completed. Does not retain the task.
    var removal: @Sendable () -> Void { {} }

    /// The `userInfo` of `taskDidComplete`.
    var completionInfo: [String: any Sendable] {
        var userInfo: [String: any Sendable] = [
            TaskDidCompleteKey.responseSerializer: operation.responseSerializer
        ]
        userInfo[TaskDidCompleteKey.serializedResponse] = operation.responseObject
        userInfo[TaskDidCompleteKey.responseData] = operation.responseData
        userInfo[TaskDidCompleteKey.error] = operation.error
        let metrics = operation.metricsOfEachTransfer
        if !metrics.isEmpty { userInfo[TaskDidCompleteKey.sessionTaskMetrics] = metrics }
        return userInfo
    }

    func post(_ name: Notification.Name, _ userInfo: [String: any Sendable]? = nil) {
        NotificationCenter.default.post(name: name, object: self, userInfo: userInfo)
    }
}

/// A task whose response is an object in memory.
public class DataTask: SessionTask, @unchecked Sendable {
    // @unchecked: what changes lives behind locks.

    private let decision = Locked(ResponseDecision.notRequested)

    /// The decision of the session's closure about the response. The closure is called once, although the
    /// operation asks again after a suspension.
    private enum ResponseDecision {
        case notRequested
        /// The operation waits for the answer, with a closure for each time it has asked.
        case requested([@Sendable () -> Void])
        case allowed
    }

    /// Whether to call the session's closure. `receive` is called once the response is allowed.
    func requestsDecision(_ receive: @escaping @Sendable () -> Void) -> Bool {
        let (isFirst, isAllowed) = decision.withLock { decision in
            switch decision {
            case .notRequested:
                decision = .requested([receive])
                return (true, false)
            case .requested(let waiting):
                decision = .requested(waiting + [receive])
                return (false, false)
            case .allowed: return (false, true)
            }
        }
        if isAllowed { receive() }
        return isFirst
    }

    /// Allows the response.
    func allow() {
        let waiting = decision.withLock { decision in
            defer { decision = .allowed }
            if case .requested(let waiting) = decision { return waiting }
            return []
        }
        for receive in waiting { receive() }
    }
}

/// A ``DataTask`` with a body: a file, data or a stream.
public final class UploadTask: DataTask, @unchecked Sendable {
    // @unchecked: it adds no stored property.

    /// The ``SessionTask/uploadProgress``.
    public override var progress: Progress { uploadProgress }

    override var progressDirection: ProgressDirection { .upload }
}

// MARK: - OperationRepresentative

extension SessionTask: OperationRepresentative {
    func operationDidResume() { post(.taskDidResume) }

    func operationDidPause() { post(.taskDidSuspend) }
}

// MARK: - Hashable

extension SessionTask: Hashable {
    /// Whether both are the same object.
    public static func == (one: SessionTask, other: SessionTask) -> Bool { one === other }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}

// MARK: - CustomStringConvertible

extension SessionTask: CustomStringConvertible {
    /// The class, the identifier, the request and the state. Secrets in the URL are replaced by `REDACTED`.
    public var description: String {
        let address = originalRequest.url?.publicText ?? "no URL"
        return
            "<\(type(of: self)) \(taskIdentifier): \(originalRequest.httpMethod ?? "GET") \(address), \(state)>"
    }
}

// MARK: - CustomReflectable

extension SessionTask: CustomReflectable {
    /// Only the ``description``, so that `dump` does not show fields and credentials.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension Operation.QueuePriority {
    /// - Parameter taskPriority: from 0 to 1. NaN is normal.
    fileprivate init(taskPriority: Float) {
        self =
            switch taskPriority {
            case ..<0.125: .veryLow
            case ..<0.375: .low
            case ..<0.625: .normal
            case ..<0.875: .high
            case 0.875...: .veryHigh
            default: .normal
            }
    }
}
