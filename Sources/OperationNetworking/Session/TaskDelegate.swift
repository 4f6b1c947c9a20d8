import Dispatch
import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// The delegate object of one task: it makes the operation, hears it, and calls the task's closures and the
/// session's.
///
/// It commands on the work queue, hears on the delegate queue, and calls back on the completion queue.
final class TaskDelegate: SessionTaskOwner {
    /// The closures of a task, called on the completion queue but for the destination.
    struct Closures: Sendable {
        /// The task is the one that they were given for, also if it has become a download.
        var completion:
            (@Sendable (SessionTask, HTTPURLResponse?, (any Sendable)?, (any Error)?) -> Callback?)?
        var uploadProgress: SessionTask.ProgressHandler?
        var downloadProgress: SessionTask.ProgressHandler?
        var destination: DownloadTask.DestinationHandler?

        func progress(_ direction: ProgressDirection) -> SessionTask.ProgressHandler? {
            direction == .download ? downloadProgress : uploadProgress
        }

        var isEmpty: Bool { completion == nil && uploadProgress == nil && downloadProgress == nil }
    }

    /// Makes the operation of a task, and the directory of a download.
    typealias Make = @Sendable (SessionTask) throws -> (HTTPRequestOperation, TemporaryPlace?)

    struct State {
        weak var task: SessionTask?
        /// The task from a command until its end, when its session has dropped it and takes it no more.
        var held: SessionTask?
        var closures: Closures
        /// Makes the operation, on the work queue.
        var make: Make?
        var operation: HTTPRequestOperation?
        /// The directory of a download.
        var place: TemporaryPlace?
        /// The data task that has become a download.
        var original: DataTask?
        /// Whether the session was asked about the response.
        var hasResponse = false
        /// The data that the task was made from.
        var resumeData: Data?
        /// The progress that the session's closures have not been told.
        var untold: [ProgressDirection: ProgressReport] = [:]
    }

    let session: SessionCore
    /// The operation's events, and with them the session's closures, on the delegate queue.
    let events: CallbackQueue
    let line: TaskCallbackLine
    let state: Locked<State>

    /// `make` is called once, on the work queue, when the task is resumed for the first time. What it throws
    /// is the task's error.
    init(
        _ session: SessionCore,
        _ closures: Closures,
        resumeData: Data? = nil,
        make: @escaping Make
    ) {
        self.session = session
        events = CallbackQueue(on: session.delegateQueue)
        state = Locked(State(closures: closures, make: make, resumeData: resumeData))
        line = TaskCallbackLine(hasAudience: !closures.isEmpty) { [operations = session.operations] in
            operations.state.withLock { ($0.completionQueue, $0.completionGroup) }
        }
    }

    var task: SessionTask? { state.withLock { $0.task } }

    /// The task that it is the delegate of from now on.
    func take(_ task: SessionTask) {
        state.withLock { $0.task = task }
    }

    func observeProgress(_ direction: ProgressDirection, _ handler: @escaping SessionTask.ProgressHandler) {
        state.withLock { state in
            switch direction {
            case .download: state.closures.downloadProgress = handler
            case .upload: state.closures.uploadProgress = handler
            }
        }
        line.addAudience()
    }

    /// The task fails with the error when it is resumed.
    func refuse(_ error: any Error) {
        state.change { $0.make = { _ in throw error } }
    }

    // MARK: - SessionTaskOwner

    func post(_ effect: SessionTaskMachine.Effect, of task: SessionTask) {
        session.workQueue.async { self.perform(effect, of: task) }
        switch effect {
        case .start, .goOn: line.append { Self.post(.taskDidResume, task) }
        case .pause: line.append { Self.post(.taskDidSuspend, task) }
        case .none, .cancel, .end: break
        }
    }

    func taskWasReleased() {
        // One that is suspended would be held for ever.
        guard let operation = state.withLock({ $0.operation }) else { return }
        session.workQueue.async {
            if let download = operation as? DownloadOperation {
                download.cancel(keepingPartialFile: false)
            } else {
                operation.cancel()
            }
        }
    }

    func addAudience() {
        line.addAudience()
    }

    func callBack(_ call: @escaping CallbackQueue.Call) {
        line.addAudience()
        line.appendCall(call)
    }

    // MARK: - Commands, on the work queue

    private func perform(_ effect: SessionTaskMachine.Effect, of task: SessionTask) {
        let operation = state.withLock { $0.operation }
        switch effect {
        case .none: break
        case .start: start(task)
        case .pause:
            operation?.pause()
            // It is its session's again, or its owner's.
            state.change { $0.held = nil }
            if session.isReleased { session.dropIfSuspended(task) }
        case .goOn:
            hold(task)
            operation?.resume()
        case .cancel:
            hold(task)
            cancel(operation, of: task)
        case .end: end(task, error: URLError.cancelled(url: task.originalRequest.url))
        }
    }

    /// Has the task live until its end, also one that a released manager had dropped.
    private func hold(_ task: SessionTask) {
        guard !session.add(task) else { return }
        task.changing.withLock { changing in
            // Its end lets go of it after the mark.
            if !changing.isLeaving { state.withLock { $0.held = task } }
        }
    }

    private func start(_ task: SessionTask) {
        hold(task)
        do {
            guard let make = state.withLock({ $0.make }) else { return }
            let (operation, place) = try make(task)
            configure(operation, for: task)
            state.withLock { state in
                state.operation = operation
                state.place = place
                state.make = nil
            }
            operation.start()
        } catch {
            end(task, error: error)
        }
    }

    private func cancel(_ operation: HTTPRequestOperation?, of task: SessionTask) {
        if let download = operation as? DownloadOperation, let task = task as? DownloadTask {
            download.cancel(keepingPartialFile: task.keepsPartialFile && download.keepsPartialFile)
        } else {
            operation?.cancel()
        }
    }

    /// The task has no operation, or none any more.
    private func end(_ task: SessionTask, error: any Error) {
        events.append {
            self.complete(task, nil, nil, error)
            return nil
        }
    }

    // MARK: - The operation

    private func configure(_ operation: HTTPRequestOperation, for task: SessionTask) {
        let hooks = session.hooks.withLock { $0 }
        // P15: no task can go on with what came, whether it is cancelled or fails.
        if !ResumeRequest.mayContinue(operation.request) {
            (operation as? DownloadOperation)?.keepsPartialFile = false
        }
        operation.completionQueue = session.delegateQueue
        operation.postsNotifications = false
        operation.completionGroup = nil
        operation.queuePriority = Operation.QueuePriority(taskPriority: task.priority)
        operation.addObserver(TaskObserver(self))
        operation.setDownloadProgress { self.didReceive($0, $1, $2) }
        operation.setUploadProgress { self.didSend($0, $1, $2) }
        operation.setCompletion(
            success: { operation, object in
                self.events.appendHere { self.didEnd(operation, object: object, error: nil) }
            },
            failure: { operation, error in
                self.events.appendHere {
                    self.didEnd(operation, object: operation.responseObject, error: error)
                }
            }
        )
        if let redirect = hooks.willPerformRedirection {
            let (home, plain) = (
                redirect.isolation, { @Sendable in callAssumingIsolation(of: redirect, $0, $1, $2) }
            )
            operation.setRedirectQuestion { _, request, response, answer in
                guard let task = self.task else { return answer(request) }
                self.events.append { Callback(in: home) { answer(plain(task, response, request)) } }
            }
        }
        if let make = hooks.needNewBodyStream, operation.request.httpBodyStream != nil,
            operation.request.bodySource?.isRepeatable != true
        {
            operation.setBodyStreamProvider { self.task.flatMap(make) }
        }
        if hooks.sessionChallenge != nil || hooks.taskChallenge != nil {
            operation.setAuthenticationChallenge { _, challenge in
                await self.answer(challenge, hooks)
            }
        }
        if let dataTask = task as? DataTask { hooks.prepare?(operation, dataTask, events) }
        guard let operation = operation as? SessionDataOperation else { return }
        if hooks.didReceiveData != nil {
            operation.setReceiver { piece, done in
                self.events.appendHere { self.didReceive(piece, done: done) }
            }
        }
        if hooks.didReceiveResponse != nil {
            operation.setJudge { response, decide in
                self.events.append { self.judge(response, decide) }
            }
        }
    }

    /// As with `URLSession`: a server's trust is asked of the session first, a 401 of the task alone.
    private func answer(_ challenge: AuthenticationChallenge, _ hooks: SessionHooks) async
        -> AuthenticationChallenge.Answer
    {
        if challenge.serverTrust != nil, let ask = hooks.sessionChallenge { return await ask(challenge) }
        guard let ask = hooks.taskChallenge, let task else { return .performDefaultHandling }
        return await ask(task, challenge)
    }
}

/// Tells a delegate what its operation's observers hear.
private final class TaskObserver: OperationObserver {
    private let delegate: TaskDelegate

    init(_ delegate: TaskDelegate) {
        self.delegate = delegate
    }

    func operation(_ operation: ConnectionOperation, didReceive response: HTTPURLResponse) {
        delegate.didReceive(response)
    }

    func operation(
        _ operation: ConnectionOperation,
        didFollow redirect: HTTPURLResponse,
        to request: URLRequest
    ) {
        delegate.didFollow(request)
    }

    func operation(_ operation: ConnectionOperation, didResumeAt offset: Int64) {
        delegate.events.appendHere { [delegate] in delegate.didResume(at: offset) }
    }
}
