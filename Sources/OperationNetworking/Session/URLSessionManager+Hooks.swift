public import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

// The session's own closures. Those that are told are called on the completion queue, in order with the callbacks
// of their task; those that return an answer on a queue of the library. One that is written in main-actor code is
// called on the main queue, and the callbacks of its task after it wait meanwhile. Each has to be set before a task
// is resumed for the first time. All are released when the session has become invalid.
extension URLSessionManager {
    // MARK: - The session

    /// Called when the session was invalidated and its last task has completed. The error is `nil`: nothing
    /// but ``invalidateSession(cancelingTasks:resetSession:)`` does it.
    public func setSessionDidBecomeInvalid(
        @_inheritActorContext _ block: (@isolated(any) @Sendable (_ error: (any Error)?) -> Void)?
    ) {
        core.hooks.change { $0.didBecomeInvalid = block }
    }

    /// Called when the security policy does not accept a server: see
    /// ``AuthenticationChallenge/serverTrust``. May take its time to answer.
    public func setSessionDidReceiveAuthenticationChallenge(
        @_inheritActorContext _ block: (
            @Sendable (_ challenge: AuthenticationChallenge) async -> AuthenticationChallenge.Answer
        )?
    ) {
        core.hooks.change { $0.sessionChallenge = block }
    }

    // MARK: - Tasks

    /// Called when a server answers 401, and about a server that is not accepted if no closure of
    /// ``setSessionDidReceiveAuthenticationChallenge(_:)`` is set. May take its time to answer.
    public func setTaskDidReceiveAuthenticationChallenge(
        @_inheritActorContext _ block: (
            @Sendable (_ task: SessionTask, _ challenge: AuthenticationChallenge) async ->
                AuthenticationChallenge.Answer
        )?
    ) {
        core.hooks.change { $0.taskChallenge = block }
    }

    /// Called, on any thread, when the body of a streamed upload is needed, for the first time or again, and
    /// the request's own stream cannot be read. Answers with a new stream of the same bytes, and at once, for
    /// a transfer waits: so it cannot use what belongs to an actor, unlike the other closures.
    public func setTaskNeedNewBodyStream(_ block: (@Sendable (_ task: SessionTask) -> InputStream?)?) {
        core.hooks.change { $0.needNewBodyStream = block }
    }

    /// Called for each redirect that is to be followed: answers with the request that follows it, another
    /// one, or `nil` to take the redirect for the response. See ``ConnectionOperation/setRedirect(_:)``.
    public func setTaskWillPerformHTTPRedirection(
        @_inheritActorContext _ block: (
            @isolated(any) @Sendable (_ task: SessionTask, _ redirect: HTTPURLResponse, _ request: URLRequest)
                ->
                URLRequest?
        )?
    ) {
        core.hooks.change { $0.willPerformRedirection = block }
    }

    /// Called, at most 20 times a second and once with the last values, with the bytes that were sent since
    /// the last call, altogether, and are to be sent, -1 if that is unknown.
    public func setTaskDidSendBodyData(
        @_inheritActorContext _ block: (
            @isolated(any) @Sendable (_ task: SessionTask, _ bytes: Int64, _ total: Int64, _ expected: Int64)
                -> Void
        )?
    ) {
        core.hooks.change { $0.didSendBodyData = block }
    }

    /// Called when a task has completed, before its completion handler.
    public func setTaskDidComplete(
        @_inheritActorContext _ block: (
            @isolated(any) @Sendable (_ task: SessionTask, _ error: (any Error)?) -> Void
        )?
    ) {
        core.hooks.change { $0.didComplete = block }
    }

    /// Called, before the closure of ``setTaskDidComplete(_:)``, with the cost of each transfer of a task.
    public func setTaskDidFinishCollectingMetrics(
        @_inheritActorContext _ block: (
            @isolated(any) @Sendable (_ task: SessionTask, _ metrics: [TransferMetrics]) -> Void
        )?
    ) {
        core.hooks.change { $0.didFinishCollectingMetrics = block }
    }

    // MARK: - Data tasks

    /// Called once for a task, when the head of its response came: not for redirects that are followed, nor
    /// for the response when the rest of a body is requested. The body waits for the closure, and none of it is
    /// received if the answer is to cancel. A response whose body is to be a file is that of a ``DownloadTask``.
    public func setDataTaskDidReceiveResponse(
        @_inheritActorContext _ block: (
            @isolated(any) @Sendable (_ task: DataTask, _ response: HTTPURLResponse) ->
                DataTask.ResponseDisposition
        )?
    ) {
        core.hooks.change { $0.didReceiveResponse = block }
    }

    /// Called for each piece of the body of a successful response, in order. The transfer waits for a closure
    /// that does not keep up. If a body starts over, since it changed while the task was suspended, so do its
    /// pieces.
    public func setDataTaskDidReceiveData(
        @_inheritActorContext _ block: (@isolated(any) @Sendable (_ task: DataTask, _ data: Data) -> Void)?
    ) {
        core.hooks.change { $0.didReceiveData = block }
    }

    // MARK: - Downloads

    /// Called when a file is complete. If the closure returns a destination, the file is moved there,
    /// whatever the task's own closure says; `nil` leaves the decision to that closure.
    public func setDownloadTaskDidFinishDownloading(
        @_inheritActorContext _ block: (
            @isolated(any) @Sendable (_ task: DownloadTask, _ temporary: URL) -> URL?
        )?
    ) {
        core.hooks.change { $0.didFinishDownloading = block }
    }

    /// Called, at most 20 times a second and once with the last values, with the bytes that came since the
    /// last call, altogether, and are expected, -1 if that is unknown.
    public func setDownloadTaskDidWriteData(
        @_inheritActorContext _ block: (
            @isolated(any) @Sendable (_ task: DownloadTask, _ bytes: Int64, _ total: Int64, _ expected: Int64)
                -> Void
        )?
    ) {
        core.hooks.change { $0.didWriteData = block }
    }

    /// Called when a download goes on after bytes that are kept: with their number, and the length of the
    /// whole, -1 if that is unknown.
    public func setDownloadTaskDidResume(
        @_inheritActorContext _ block: (
            @isolated(any) @Sendable (_ task: DownloadTask, _ offset: Int64, _ expected: Int64) -> Void
        )?
    ) {
        core.hooks.change { $0.didResumeDownload = block }
    }
}
