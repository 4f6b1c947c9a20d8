public import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

// The session's own closures. Notifications are called on the completion queue, in order with the callbacks
// of their task; closures that return an answer, on a queue of the library. A closure written in main-actor
// code is called on the main queue, and the task's later callbacks wait for it. Set each before a task is
// resumed for the first time. All are released when the session has become invalid.
extension URLSessionManager {
    // MARK: - The session

    /// Sets the closure that is called when the session was invalidated and its last task has completed. The
    /// error is always `nil`: only ``invalidateSession(cancelingTasks:resetSession:)`` invalidates a session.
    public func setSessionDidBecomeInvalid(
        @_inheritActorContext _ block: (@isolated(any) @Sendable (_ error: (any Error)?) -> Void)?
    ) {
        core.hooks.change { $0.didBecomeInvalid = block }
    }

    /// Sets the closure that is called when the security policy rejects a server: see
    /// ``AuthenticationChallenge/serverTrust``. The transfer waits for its answer.
    public func setSessionDidReceiveAuthenticationChallenge(
        @_inheritActorContext _ block: (
            @Sendable (_ challenge: AuthenticationChallenge) async -> AuthenticationChallenge.Answer
        )?
    ) {
        core.hooks.change { $0.sessionChallenge = block }
    }

    // MARK: - Tasks

    /// Sets the closure that is called when a server answers 401, and when the security policy rejects a
    /// server if there is no ``setSessionDidReceiveAuthenticationChallenge(_:)`` closure. The transfer waits
    /// for its answer.
    public func setTaskDidReceiveAuthenticationChallenge(
        @_inheritActorContext _ block: (
            @Sendable (_ task: SessionTask, _ challenge: AuthenticationChallenge) async ->
                AuthenticationChallenge.Answer
        )?
    ) {
        core.hooks.change { $0.taskChallenge = block }
    }

    /// Sets the closure that provides the body of a streamed upload, for the first time or again, if the
    /// request's own stream cannot be read. It is called on any thread and returns a new stream of the same
    /// bytes at once, because a transfer waits. Unlike the other closures, it cannot use actor-isolated
    /// state.
    public func setTaskNeedNewBodyStream(_ block: (@Sendable (_ task: SessionTask) -> InputStream?)?) {
        core.hooks.change { $0.needNewBodyStream = block }
    }

    /// Sets the closure that is called for each redirect to be followed. It returns the proposed request,
    /// another one, or `nil` to use the redirect as the response. See
    /// ``ConnectionOperation/setRedirect(_:)``.
    public func setTaskWillPerformHTTPRedirection(
        @_inheritActorContext _ block: (
            @isolated(any) @Sendable (_ task: SessionTask, _ redirect: HTTPURLResponse, _ request: URLRequest)
                ->
                URLRequest?
        )?
    ) {
        core.hooks.change { $0.willPerformRedirection = block }
    }

    /// Sets the closure that is called, at most 20 times a second and once with the final values, with the
    /// bytes sent since the last call, sent in total, and expected to be sent, or -1 if unknown.
    public func setTaskDidSendBodyData(
        @_inheritActorContext _ block: (
            @isolated(any) @Sendable (_ task: SessionTask, _ bytes: Int64, _ total: Int64, _ expected: Int64)
                -> Void
        )?
    ) {
        core.hooks.change { $0.didSendBodyData = block }
    }

    /// Sets the closure that is called when a task has completed, before its completion handler.
    public func setTaskDidComplete(
        @_inheritActorContext _ block: (
            @isolated(any) @Sendable (_ task: SessionTask, _ error: (any Error)?) -> Void
        )?
    ) {
        core.hooks.change { $0.didComplete = block }
    }

    /// Sets the closure that is called with the metrics of each transfer of a task, before the closure of
    /// ``setTaskDidComplete(_:)``.
    public func setTaskDidFinishCollectingMetrics(
        @_inheritActorContext _ block: (
            @isolated(any) @Sendable (_ task: SessionTask, _ metrics: [TransferMetrics]) -> Void
        )?
    ) {
        core.hooks.change { $0.didFinishCollectingMetrics = block }
    }

    // MARK: - Data tasks

    /// Sets the closure that is called once for a task with the head of its response: not for redirects that
    /// are followed, nor when the rest of a body is requested. The body is held until the closure returns,
    /// and none of it is received if the answer is to cancel. To receive a body as a file, use a
    /// ``DownloadTask``.
    public func setDataTaskDidReceiveResponse(
        @_inheritActorContext _ block: (
            @isolated(any) @Sendable (_ task: DataTask, _ response: HTTPURLResponse) ->
                DataTask.ResponseDisposition
        )?
    ) {
        core.hooks.change { $0.didReceiveResponse = block }
    }

    /// Sets the closure that is called for each piece of the body of a successful response, in order. A slow
    /// closure slows the transfer down. If a body starts over because it changed while the task was
    /// suspended, so do its pieces.
    public func setDataTaskDidReceiveData(
        @_inheritActorContext _ block: (@isolated(any) @Sendable (_ task: DataTask, _ data: Data) -> Void)?
    ) {
        core.hooks.change { $0.didReceiveData = block }
    }

    // MARK: - Downloads

    /// Sets the closure that is called when a file is complete. If it returns a destination, the file is
    /// moved there; if it returns `nil`, the task's own closure decides.
    public func setDownloadTaskDidFinishDownloading(
        @_inheritActorContext _ block: (
            @isolated(any) @Sendable (_ task: DownloadTask, _ temporary: URL) -> URL?
        )?
    ) {
        core.hooks.change { $0.didFinishDownloading = block }
    }

    /// Sets the closure that is called, at most 20 times a second and once with the final values, with the
    /// bytes received since the last call, received in total, and expected, or -1 if unknown.
    public func setDownloadTaskDidWriteData(
        @_inheritActorContext _ block: (
            @isolated(any) @Sendable (_ task: DownloadTask, _ bytes: Int64, _ total: Int64, _ expected: Int64)
                -> Void
        )?
    ) {
        core.hooks.change { $0.didWriteData = block }
    }

    /// Sets the closure that is called when a download resumes after kept bytes, with their number and the
    /// length of the file, or -1 if unknown.
    public func setDownloadTaskDidResume(
        @_inheritActorContext _ block: (
            @isolated(any) @Sendable (_ task: DownloadTask, _ offset: Int64, _ expected: Int64) -> Void
        )?
    ) {
        core.hooks.change { $0.didResumeDownload = block }
    }
}
