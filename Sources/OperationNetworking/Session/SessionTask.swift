public import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

/// The worker behind a task: it has the operation.
protocol SessionTaskOwner: AnyObject, Sendable {
    /// Called with the task's lock held: it may only put the work into a queue.
    func post(_ effect: SessionTaskMachine.Effect, of task: SessionTask)

    /// The task was released before its end.
    func taskWasReleased()

    /// The task has got a closure. Callable with its lock held.
    func addAudience()

    /// Has a closure of the user's called, on the completion queue or where it belongs.
    func callBack(_ call: @escaping CallbackQueue.Call)

    /// Sets a closure that is called with the progress of the task, which was not resumed yet.
    func observeProgress(_ direction: ProgressDirection, _ handler: @escaping SessionTask.ProgressHandler)

    /// The task fails with the error when it is resumed.
    func refuse(_ error: any Error)
}

/// A task of a session: an operation with the face of a `URLSessionTask`. It is made suspended: ``resume()``
/// starts it. Everything may be called from any thread.
///
/// ``URLSessionManager`` makes tasks: ``DataTask``, ``UploadTask``, ``DownloadTask``. A session keeps its
/// tasks until they have completed; a task keeps its session's queues and settings, not the manager.
public class SessionTask: ProgressControllable, @unchecked Sendable {
    // @unchecked: every stored property is an immutable Sendable; what changes lives in `changing`.

    /// Called on the completion queue when the task has completed: with the head of the response, what the
    /// response serializer made of its body, and the error. Of a response that the serializer refuses there
    /// may be an object, too.
    public typealias CompletionHandler =
        @isolated(any) @Sendable (
            _ response: HTTPURLResponse?, _ object: (any Sendable)?, _ error: (any Error)?
        ) -> Void

    /// Called on the completion queue, at most 20 times a second, and once with the last value.
    public typealias ProgressHandler = @isolated(any) @Sendable (_ progress: Progress) -> Void

    /// The states of a task.
    public enum State: Hashable, Sendable, CaseIterable {
        /// The task was resumed: its transfer runs, or waits for a connection.
        case running
        /// The task was not resumed yet, or was suspended. What came is kept.
        case suspended
        /// The task was cancelled, and its end is on its way.
        case canceling
        /// The task has ended, with or without an ``SessionTask/error``.
        case completed
    }

    /// The value of ``priority`` for what can wait.
    public static let lowPriority: Float = 0.25
    /// The value of ``priority`` unless set.
    public static let defaultPriority: Float = 0.5
    /// The value of ``priority`` for what is urgent.
    public static let highPriority: Float = 0.75

    struct Changing {
        var machine = SessionTaskMachine()
        var currentRequest: URLRequest
        var response: HTTPURLResponse?
        var error: (any Error)?
        var object: (any Sendable)?
        /// The cost of the exchange, and the body if it was kept in memory.
        var metrics: TransferMetrics?
        var data: Data?
        var received = ProgressReport(bytes: 0, total: 0, expected: -1)
        var sent = ProgressReport(bytes: 0, total: 0, expected: -1)
        var taskDescription: String?
        var priority = SessionTask.defaultPriority
        /// The task that a data task has become.
        var successor = Successor.none
        /// Called once when the task has completed, on any thread.
        var whenCompleted: [@Sendable () -> Void] = []
        /// Whether its end is certain: the session lists it no more.
        var isLeaving = false
        /// Called with the resume data of a cancelled download.
        var resumeDataHandlers: [DownloadTask.ResumeDataHandler] = []
        var resumeData: Data?
    }

    /// The task that has the transfer, and the end, of another one.
    struct Successor {
        static let none = Successor(exists: false)

        let exists: Bool
        /// Not held: that one holds this task until its end.
        private(set) weak var task: SessionTask?

        private init(exists: Bool) {
            self.exists = exists
        }

        init(_ task: SessionTask) {
            exists = true
            self.task = task
        }
    }

    /// Unique among the tasks of one session: 1, 2, 3 and so on.
    public let taskIdentifier: Int
    /// The request that the task was made with, and the session's additional headers.
    public let originalRequest: URLRequest
    let taskProgress: TaskProgress
    let owner: any SessionTaskOwner
    let changing: Locked<Changing>

    // `changing` is the state of the task that becomes this one.
    init(
        _ identifier: Int,
        request: URLRequest,
        progress: TaskProgress,
        owner: any SessionTaskOwner,
        changing: Changing? = nil
    ) {
        taskIdentifier = identifier
        originalRequest = request
        taskProgress = progress
        self.owner = owner
        self.changing = Locked(changing ?? Changing(currentRequest: request))
        progress.target.become(self)
    }

    deinit { owner.taskWasReleased() }

    // MARK: - Results

    /// The progress of sending the request's body. It commands the task as ``progress`` does.
    public var uploadProgress: Progress { taskProgress.upload }

    /// The progress of receiving the response's body. It commands the task as ``progress`` does.
    public var downloadProgress: Progress { taskProgress.download }

    /// The state now.
    public var state: State { State(changing.withLock { $0.machine.phase }) }

    /// The request that is being asked, after redirects.
    public var currentRequest: URLRequest { changing.withLock { $0.currentRequest } }

    /// The head of the last response that was not a redirect to be followed.
    public var response: HTTPURLResponse? { changing.withLock { $0.response } }

    /// Why the task failed; `nil` until it has completed. A cancelled task has `URLError.cancelled`.
    public var error: (any Error)? { changing.withLock { $0.error } }

    /// The answers about ``error``: was it cancelled, which status, may it pass?
    public var failure: RequestFailure? { error.map(RequestFailure.init) }

    /// The progress that became a child of the current one when the task was made: ``uploadProgress`` of an
    /// ``UploadTask``, ``downloadProgress`` of the others.
    ///
    /// Cancelling, pausing or resuming it, or one that it is part of, acts on the task. A task that is made
    /// below a cancelled progress ends with `URLError.cancelled`, and asks for nothing. While its progress is
    /// paused, the first ``resume()`` of a task does not start it: it starts when the progress is resumed, or
    /// when `resume()` is called once more.
    ///
    /// Its total is -1 while no length is known. As a child it changes on the completion queue, before the
    /// closures of the task are called, since Foundation's tree has no lock; ``countOfBytesReceived`` and its
    /// like change at once.
    public var progress: Progress { downloadProgress }

    /// The number of bytes of the response's body that have come, those from before a suspension included.
    public var countOfBytesReceived: Int64 { changing.withLock { $0.received.total } }

    /// The length of the response's body; -1: unknown.
    public var countOfBytesExpectedToReceive: Int64 { changing.withLock { $0.received.expected } }

    /// The number of bytes of the request's body that were sent.
    public var countOfBytesSent: Int64 { changing.withLock { $0.sent.total } }

    /// The length of the request's body; -1: unknown.
    public var countOfBytesExpectedToSend: Int64 { changing.withLock { $0.sent.expected } }

    // MARK: - Configuration

    /// A text of your own. Nothing here reads it.
    public var taskDescription: String? {
        get { changing.withLock { $0.taskDescription } }
        set { changing.withLock { $0.taskDescription = newValue } }
    }

    /// The priority among tasks that wait for a connection, from 0 to 1, as it is when the task is resumed
    /// for the first time.
    public var priority: Float {
        get { changing.withLock { $0.priority } }
        set { changing.withLock { $0.priority = newValue } }
    }

    // MARK: - Commands

    /// Starts the task, or lets it go on where it was suspended. One call undoes any number of
    /// ``suspend()``s. While its ``progress`` is paused, the first call does not start it.
    public func resume() {
        apply { $0.resume() }
    }

    /// Stops the transfer and keeps what came. ``resume()`` asks for the rest, and the answer is judged
    /// before its first byte is used: see ``ConnectionOperation/pause()``. Nothing happens to a task that
    /// does not run.
    public func suspend() {
        apply { $0.suspend() }
    }

    /// Ends the task with `URLError.cancelled`, also one that was never resumed.
    public func cancel() {
        apply { $0.cancel() }
    }

    // MARK: - For its progress

    func hold() {
        apply { $0.hold() }
    }

    func release() {
        apply { $0.release() }
    }

    /// Does what its progress was told before it commanded the task: a parent may have been cancelled, or
    /// paused, before the task was made.
    func followProgress() {
        if taskProgress.isCancelled { return cancel() }
        // Asked under the lock, which a resumption comes to after it has changed the progress.
        apply { taskProgress.isPaused ? $0.hold() : .none }
    }

    // MARK: - For the session

    /// The one function that changes the phase, apart from the end.
    func apply(_ event: (inout SessionTaskMachine) -> SessionTaskMachine.Effect) {
        changing.withLock { state in
            let effect = event(&state.machine)
            // Under the lock: a pause can never overtake its start.
            if effect != .none { owner.post(effect, of: self) }
        }
    }

    /// Makes everything final in one step.
    /// - Returns: whether this was the end, and the handlers of resume data; `nil`: it had ended before.
    func complete(
        _ response: HTTPURLResponse?,
        _ object: (any Sendable)?,
        _ error: (any Error)?,
        of operation: HTTPRequestOperation?,
        resumeData: Data?
    ) -> [DownloadTask.ResumeDataHandler]? {
        let (handlers, bodies) = changing.withLock { state in
            guard state.machine.ended() else {
                return (nil as [DownloadTask.ResumeDataHandler]?, [] as [@Sendable () -> Void])
            }
            if let response { state.response = response }
            state.object = object
            state.error = error
            state.metrics = operation?.metrics
            state.data = operation?.responseData
            state.resumeData = resumeData
            defer {
                state.resumeDataHandlers = []
                state.whenCompleted = []
            }
            return (state.resumeDataHandlers, state.whenCompleted)
        }
        for body in bodies { body() }
        return handlers
    }

    /// Calls `body` once the task, or the one that it has become, has completed, on any thread; at once if it
    /// has.
    func whenCompleted(_ body: @escaping @Sendable () -> Void) {
        let (isCompleted, successor) = changing.withLock { state in
            guard state.machine.phase != .completed else { return (true, state.successor.task) }
            state.whenCompleted.append(body)
            return (false, nil)
        }
        if let successor {
            successor.whenCompleted(body)
        } else if isCompleted {
            body()
        }
    }

    /// The object, once there is one; cancelling the Swift task cancels this one, or the one that it has
    /// become, and ends the wait at once.
    var outcome: (any Sendable)? {
        get async throws {
            await Wait.until(whenCompleted) {
                self.cancel()
                self.changing.withLock { $0.successor.task }?.cancel()
                return true
            }
            let (phase, object, error, successor) = changing.withLock {
                ($0.machine.phase, $0.object, $0.error, $0.successor)
            }
            if let error { throw error }
            // The object of one that has become another is there when that one ends.
            guard phase == .completed, !successor.exists || object != nil else {
                throw URLError.cancelled(url: originalRequest.url)
            }
            return object
        }
    }
}

/// A task whose response is an object in memory.
public class DataTask: SessionTask, @unchecked Sendable {
    // @unchecked: it has no stored property of its own.
}

/// A ``DataTask`` with a body: a file, data, a stream.
public final class UploadTask: DataTask, @unchecked Sendable {
    // @unchecked: it has no stored property of its own.

    /// The ``SessionTask/uploadProgress``.
    public override var progress: Progress { uploadProgress }
}

/// A task whose response is a file. ``SessionTask/cancel()`` throws away what came;
/// ``cancelByProducingResumeData(_:)`` keeps it.
public final class DownloadTask: SessionTask, @unchecked Sendable {
    // @unchecked: it has no stored property of its own.

    /// Called on a processing queue when the file is complete: with its place, and the head of the response.
    /// Answers with the place to which it is moved: a file URL, in a folder that exists.
    /// One that is written in main-actor code is asked on the main queue.
    public typealias DestinationHandler =
        @isolated(any) @Sendable (_ temporary: URL, _ response: HTTPURLResponse?) -> URL

    /// Called on the completion queue when the task has completed: with the head of the response, the place
    /// of the file, and the error; there is either a file or an error.
    public typealias DownloadCompletionHandler =
        @isolated(any) @Sendable (_ response: HTTPURLResponse?, _ file: URL?, _ error: (any Error)?) -> Void

    /// Called on the completion queue with the data from which another task goes on, if there is any.
    public typealias ResumeDataHandler = @isolated(any) @Sendable (_ data: Data?) -> Void

    /// The data from which another task goes on: of a task that was cancelled by
    /// ``cancelByProducingResumeData(_:)``, or that failed when bytes had come; else `nil`. Only a GET
    /// without a body can be gone on with.
    public var resumeData: Data? { changing.withLock { $0.resumeData } }

    /// Ends the task with `URLError.cancelled`, and keeps what came.
    ///
    /// The data names the checkpoint beside the partial file, and is valid in another process, for the same
    /// user on the same machine. Whether the bytes are used is decided when it is: the server has to prove
    /// that it has the same ones.
    ///
    /// - Parameter handler: called on the completion queue, before the task's completion handler; with `nil`
    ///   when nothing came yet, or what came is thrown away, as that of a POST is. A second call gets the
    ///   same.
    public func cancelByProducingResumeData(@_inheritActorContext _ handler: @escaping ResumeDataHandler) {
        let isTooLate = changing.withLock { state in
            switch state.machine.phase {
            case .made, .held, .waiting, .running, .suspended:
                state.resumeDataHandlers.append(handler)
                owner.addAudience()
                owner.post(state.machine.cancel(), of: self)
                return false
            case .canceling where !state.resumeDataHandlers.isEmpty:
                state.resumeDataHandlers.append(handler)
                return false
            case .canceling, .completed:
                return true
            }
        }
        if isTooLate { owner.callBack { Callback(handler, self.resumeData) } }
    }

    /// Whether the bytes that came are kept after a cancellation.
    var keepsPartialFile: Bool { changing.withLock { !$0.resumeDataHandlers.isEmpty } }
}

extension SessionTask.State {
    init(_ phase: SessionTaskMachine.Phase) {
        self =
            switch phase {
            case .made, .held, .waiting, .suspended: .suspended
            case .running: .running
            case .canceling: .canceling
            case .completed: .completed
            }
    }
}

// MARK: - Hashable

extension SessionTask: Hashable {
    /// Whether they are one object.
    public static func == (one: SessionTask, other: SessionTask) -> Bool { one === other }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}

// MARK: - CustomStringConvertible

extension SessionTask: CustomStringConvertible {
    /// The class, the identifier, the request and the state. Secrets of the URL are replaced by `REDACTED`.
    public var description: String {
        let address = originalRequest.url?.publicText ?? "no URL"
        return
            "<\(type(of: self)) \(taskIdentifier): \(originalRequest.httpMethod ?? "GET") \(address), \(state)>"
    }
}

// MARK: - CustomReflectable

extension SessionTask: CustomReflectable {
    /// Only the ``description``: `dump` would show fields and credentials.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
