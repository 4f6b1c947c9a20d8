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
        var completion: (@Sendable (SessionTask, HTTPURLResponse?, (any Sendable)?, (any Error)?) -> Detour?)?
        var uploadProgress: SessionTask.ProgressHandler?
        var downloadProgress: SessionTask.ProgressHandler?
        var destination: DownloadTask.DestinationHandler?

        var isEmpty: Bool { completion == nil && uploadProgress == nil && downloadProgress == nil }
    }

    /// Makes the operation of a task, and the directory of a download.
    typealias Make = @Sendable (SessionTask) throws -> (HTTPRequestOperation, TemporaryPlace?)

    struct State {
        weak var task: SessionTask?
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
        var ears: [TaskEar] = []
    }

    let session: SessionCore
    let line: CallbackLine
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
        state = Locked(State(closures: closures, make: make, resumeData: resumeData))
        line = CallbackLine(hasAudience: !closures.isEmpty) { [operations = session.operations] in
            operations.state.withLock { ($0.completionQueue, $0.completionGroup) }
        }
    }

    var task: SessionTask? { state.withLock { $0.task } }

    /// The task that it is the delegate of from now on.
    func take(_ task: SessionTask) {
        state.withLock { $0.task = task }
    }

    /// The task fails with the error when it is resumed.
    func refuse(_ error: any Error) {
        state.change { $0.make = { _ in throw error } }
    }

    // MARK: - SessionTaskOwner

    func post(_ effect: SessionTaskMachine.Effect, of task: SessionTask) {
        session.workQueue.async { self.perform(effect, of: task) }
        switch effect {
        case .start, .goOn: tell(.isRunning(true), .taskDidResume, task)
        case .pause: tell(.isRunning(false), .taskDidSuspend, task)
        case .none, .cancel, .end: break
        }
    }

    private func tell(_ event: TaskEar.Event, _ name: Notification.Name, _ task: SessionTask) {
        // Those of now: one that joins later is told the state of that moment.
        let ears = state.withLock { $0.ears }
        line.append {
            for ear in ears { ear.hear(event) }
            Self.post(name, task)
        }
    }

    func add(_ ear: TaskEar) {
        state.withLock { $0.ears.append(ear) }
    }

    func removeEar(of listener: ObjectIdentifier) {
        let released = state.withLock { state in
            defer { state.ears.removeAll { $0.listener == listener } }
            return state.ears
        }
        withExtendedLifetime(released) {}
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

    func callBack(_ call: @escaping CallLine.Call) {
        line.addAudience()
        line.appendCall(call)
    }

    // MARK: - Commands, on the work queue

    private func perform(_ effect: SessionTaskMachine.Effect, of task: SessionTask) {
        let operation = state.withLock { $0.operation }
        switch effect {
        case .none: break
        case .start: start(task)
        case .pause: operation?.pause()
        case .goOn:
            _ = session.add(task)
            operation?.resume()
        case .cancel: cancel(operation, of: task)
        case .end: end(task, error: URLError.cancelled(url: task.originalRequest.url))
        }
    }

    private func start(_ task: SessionTask) {
        // One that a released manager had dropped lives until its end.
        _ = session.add(task)
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
            download.cancel(keepingPartialFile: task.keepsPartialFile)
        } else {
            operation?.cancel()
        }
    }

    /// The task has no operation, or none any more.
    private func end(_ task: SessionTask, error: any Error) {
        session.delegateQueue.async { self.complete(task, nil, nil, error) }
    }

    // MARK: - The operation

    private func configure(_ operation: HTTPRequestOperation, for task: SessionTask) {
        let hooks = session.hooks.withLock { $0 }
        operation.completionQueue = session.delegateQueue
        operation.completionGroup = nil
        operation.queuePriority = Operation.QueuePriority(taskPriority: task.priority)
        operation.addObserver(TaskObserver(self))
        operation.setDownloadProgress { self.didReceive($0, $1, $2) }
        operation.setUploadProgress { self.didSend($0, $1, $2) }
        operation.setCompletion(
            success: { self.didEnd($0, object: $1, error: nil) },
            failure: { self.didEnd($0, object: $0.responseObject, error: $1) }
        )
        if let redirect = hooks.willPerformRedirection {
            operation.configure { [session] in $0.closures.redirectQueue = session.delegateQueue }
            operation.setRedirect { _, request, response in
                guard let task = self.task else { return request }
                return redirect(task, response, request)
            }
        }
        if let make = hooks.needNewBodyStream, operation.request.httpBodyStream != nil,
            operation.request.bodySource == nil
        {
            operation.setBodyStreamProvider { self.task.flatMap(make) }
        }
        if hooks.sessionChallenge != nil || hooks.taskChallenge != nil {
            operation.setAuthenticationChallenge { _, challenge in
                await self.answer(challenge, hooks)
            }
        }
        if let dataTask = task as? DataTask { hooks.prepare?(operation, dataTask, session.delegateQueue) }
        guard let operation = operation as? SessionDataOperation else { return }
        if hooks.didReceiveData != nil { operation.setReceiver { self.didReceive($0) } }
        if hooks.didReceiveResponse != nil {
            operation.setJudge { [session] response, decide in
                session.delegateQueue.async { self.judge(response, decide) }
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

    // MARK: - Events, on the delegate queue

    func didReceive(_ response: HTTPURLResponse) {
        task?.changing.withLock { $0.response = response }
    }

    /// The body waits for the answer. The answer to a resumption is no other response to the user.
    private func judge(_ response: HTTPURLResponse, _ decide: @Sendable (BodyPlace) -> Void) {
        didReceive(response)
        let (isFirst, file) = state.withLock { state in
            defer { state.hasResponse = true }
            return (!state.hasResponse, state.place?.file)
        }
        // The first answer may have come when the transfer had been stopped by a suspension.
        if let file { return decide(.file(file)) }
        guard isFirst, let dataTask = task as? DataTask,
            let ask = session.hooks.withLock({ $0.didReceiveResponse })
        else { return decide(.usual) }
        switch ask(dataTask, response) {
        case .allow: decide(.usual)
        // Not a byte of it is received.
        case .cancel: dataTask.cancel()
        case .becomeDownload: decide(become(downloadFrom: dataTask))
        }
    }

    func didFollow(_ request: URLRequest) {
        task?.changing.withLock { $0.currentRequest = request }
    }

    func didResume(at offset: Int64) {
        guard let task = task as? DownloadTask,
            let tell = session.hooks.withLock({ $0.didResumeDownload })
        else { return }
        tell(task, offset, task.countOfBytesExpectedToReceive)
    }

    private func didReceive(_ piece: Data) {
        guard let task = task as? DataTask else { return }
        session.hooks.withLock { $0.didReceiveData }?(task, piece)
    }

    private func didReceive(_ bytes: Int, _ total: Int64, _ expected: Int64) {
        guard let task else { return }
        task.changing.withLock {
            $0.received = ProgressReport(bytes: bytes, total: total, expected: expected)
        }
        TaskProgress.report(total, of: expected, to: task.downloadProgress)
        tellProgress(.download, task.downloadProgress, of: task)
        guard let download = task as? DownloadTask else { return }
        session.hooks.withLock { $0.didWriteData }?(download, Int64(bytes), total, expected)
    }

    private func didSend(_ bytes: Int, _ total: Int64, _ expected: Int64) {
        guard let task else { return }
        // A body of unknown length may have a length that the request names.
        let named = task.originalRequest.value(forHTTPHeaderField: "Content-Length").flatMap { Int64($0) }
        let expected = expected < 0 ? named ?? -1 : expected
        task.changing.withLock {
            $0.sent = ProgressReport(bytes: bytes, total: total, expected: expected)
        }
        TaskProgress.report(total, of: expected, to: task.uploadProgress)
        tellProgress(.upload, task.uploadProgress, of: task)
        session.hooks.withLock { $0.didSendBodyData }?(task, Int64(bytes), total, expected)
    }

    private func tellProgress(
        _ direction: TaskEar.Direction,
        _ progress: Progress,
        of task: SessionTask
    ) {
        let (closures, ears) = state.withLock { ($0.closures, $0.ears) }
        let handler = direction == .download ? closures.downloadProgress : closures.uploadProgress
        guard handler != nil || !ears.isEmpty else { return }
        line.appendProgress(direction) {
            let report = task.changing.withLock { direction == .download ? $0.received : $0.sent }
            for ear in ears {
                ear.hear(.didMove(direction, total: report.total, expected: report.expected))
            }
            return handler.map { Detour($0, progress) }
        }
    }

    // MARK: - The end

    private func didEnd(_ operation: HTTPRequestOperation, object: (any Sendable)?, error: (any Error)?) {
        guard let task else {
            // It was released: there is no owner of a file.
            state.withLock { $0.place }?.removeAll()
            return
        }
        let download = task as? DownloadTask
        if error == nil, task.state == .canceling, download?.keepsPartialFile != true {
            // The last byte came before the cancel did; nothing of it is wanted.
            state.withLock { $0.place }?.removeAll()
            complete(task, operation, nil, URLError.cancelled(url: task.originalRequest.url))
        } else if let download, error == nil || hasFile(operation) {
            save(operation, for: download)
        } else {
            complete(task, operation, object, error)
        }
    }

    /// Everything is final, and everything is told.
    func complete(
        _ task: SessionTask,
        _ operation: HTTPRequestOperation?,
        _ object: (any Sendable)?,
        _ error: (any Error)?
    ) {
        let resumeData = error == nil ? nil : keptBytes(operation, of: task)
        // A file that was not moved is named by the error.
        let object = task is DownloadTask && error != nil ? nil : object
        if error == nil { fillProgress(of: task) }
        // Before it is complete: no complete task is ever listed.
        session.remove(task)
        let original = state.withLock { $0.original }
        original?.changing.withLock { changing in
            changing.object = object
            changing.error = error
        }
        guard let handlers = task.complete(operation?.response, object, error, resumeData: resumeData)
        else { return }
        let hooks = session.hooks.withLock { $0 }
        let metrics = operation?.transferMetrics ?? []
        if !metrics.isEmpty { hooks.didFinishCollectingMetrics?(task, metrics) }
        hooks.didComplete?(task, error)
        let (closures, place, ears) = state.withLock { state in
            defer {
                // The operation keeps closures that refer to this.
                state.operation = nil
                state.make = nil
                state.original = nil
                state.closures = Closures()
                state.ears = []
            }
            return (state.closures, state.place, state.ears)
        }
        let leftover = resumeData == nil && !(error is SessionError) ? place : nil
        // As with `URLSession`: a file that nothing has moved is there until the handler has returned.
        let isLent = error == nil && closures.destination == nil && closures.completion != nil
        if !isLent { leftover?.removeAll() }
        let userInfo = userInfo(task, operation, object, error, metrics)
        line.append {
            for ear in ears { ear.hear(.didComplete) }
        }
        for handler in handlers { line.appendCall { Detour(handler, resumeData) } }
        if let completion = closures.completion {
            line.appendCall { completion(original ?? task, task.response, object, error) }
        }
        line.append {
            Self.post(.taskDidComplete, task, userInfo)
            if isLent { leftover?.removeAll() }
        }
        line.end()
    }

    private func fillProgress(of task: SessionTask) {
        let (received, sent) = task.changing.withLock { ($0.received.total, $0.sent.total) }
        TaskProgress.complete(received, task.downloadProgress)
        TaskProgress.complete(sent, task.uploadProgress)
    }

    private func keptBytes(_ operation: HTTPRequestOperation?, of task: SessionTask) -> Data? {
        guard task is DownloadTask else { return nil }
        guard let operation = operation as? DownloadOperation else { return state.withLock { $0.resumeData } }
        return operation.checkpoint.flatMap { ResumeData(checkpoint: $0).data }
    }

    private func userInfo(
        _ task: SessionTask,
        _ operation: HTTPRequestOperation?,
        _ object: (any Sendable)?,
        _ error: (any Error)?,
        _ metrics: [TransferMetrics]
    ) -> [String: any Sendable] {
        var userInfo: [String: any Sendable] = [:]
        userInfo[TaskDidCompleteKey.responseSerializer] = operation?.responseSerializer
        userInfo[TaskDidCompleteKey.serializedResponse] = object
        userInfo[TaskDidCompleteKey.error] = error
        if task is DownloadTask {
            userInfo[TaskDidCompleteKey.assetPath] = object
        } else {
            userInfo[TaskDidCompleteKey.responseData] = operation?.responseData
        }
        if !metrics.isEmpty { userInfo[TaskDidCompleteKey.sessionTaskMetrics] = metrics }
        return userInfo
    }

    static func post(
        _ name: Notification.Name,
        _ task: SessionTask,
        _ userInfo: [String: any Sendable]? = nil
    ) {
        NotificationCenter.default.post(name: name, object: task, userInfo: userInfo)
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
        delegate.didResume(at: offset)
    }
}
