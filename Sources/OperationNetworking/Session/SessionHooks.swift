import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// The closures of a manager, shared by its session and the one after a reset. The setters of
/// ``URLSessionManager`` document when each is called.
///
/// Each closure is set independently.
struct SessionHooks: Sendable {
    /// The number of valid sessions. The last one releases the closures.
    var sessions = 1

    var didBecomeInvalid: (@isolated(any) @Sendable ((any Error)?) -> Void)?
    var sessionChallenge: (@Sendable (AuthenticationChallenge) async -> AuthenticationChallenge.Answer)?
    var taskChallenge:
        (@Sendable (SessionTask, AuthenticationChallenge) async -> AuthenticationChallenge.Answer)?
    var needNewBodyStream: (@Sendable (SessionTask) -> InputStream?)?
    var willPerformRedirection:
        (@isolated(any) @Sendable (SessionTask, HTTPURLResponse, URLRequest) -> URLRequest?)?
    var didSendBodyData:
        (@isolated(any) @Sendable (SessionTask, _ bytes: Int64, _ total: Int64, _ expected: Int64) -> Void)?
    var didComplete: (@isolated(any) @Sendable (SessionTask, (any Error)?) -> Void)?
    var didFinishCollectingMetrics: (@isolated(any) @Sendable (SessionTask, [TransferMetrics]) -> Void)?
    var didReceiveResponse:
        (@isolated(any) @Sendable (DataTask, HTTPURLResponse) -> DataTask.ResponseDisposition)?
    var didReceiveData: (@isolated(any) @Sendable (DataTask, Data) -> Void)?
    /// Configures the operation of a data task for the cache.
    var prepare: (@Sendable (HTTPRequestOperation, DataTask) -> Void)?
    var didFinishDownloading: (@isolated(any) @Sendable (DownloadTask, URL) -> URL?)?
    var didWriteData:
        (@isolated(any) @Sendable (DownloadTask, _ bytes: Int64, _ total: Int64, _ expected: Int64) -> Void)?
    var didResumeDownload:
        (@isolated(any) @Sendable (DownloadTask, _ offset: Int64, _ expected: Int64) -> Void)?

    /// Whether there is a closure that a ``HookObserver`` calls.
    var hasEventClosures: Bool {
        didSendBodyData != nil || didComplete != nil || didFinishCollectingMetrics != nil
            || didWriteData != nil || didResumeDownload != nil
    }

    /// Copies the closures of another session.
    mutating func copy(_ others: SessionHooks) {
        let own = sessions
        self = others
        sessions = own
    }
}

// MARK: - Closures that return a decision

extension SessionTask {
    /// Installs the session's closures that the operation gets decisions from.
    func installHooks() {
        let hooks = session.hooks.withLock { $0 }
        if let redirect = hooks.willPerformRedirection {
            operation.setDeferredRedirectHandler { [weak self] _, request, response, answer in
                guard let task = self else { return answer(request) }
                Callback(in: redirect.isolation) {
                    answer(callAssumingIsolation(of: redirect, task, response, request))
                }
                .perform(on: ConnectionOperation.processingQueue)
            }
        }
        if hooks.sessionChallenge != nil || hooks.taskChallenge != nil {
            operation.setAuthenticationChallenge { [weak self] _, challenge in
                // As with `URLSession`: the session's closure decides first about a server's trust, the
                // task's about a 401.
                if challenge.serverTrust != nil, let ask = hooks.sessionChallenge {
                    return await ask(challenge)
                }
                guard let ask = hooks.taskChallenge, let self else { return .performDefaultHandling }
                return await ask(self, challenge)
            }
        }
        if let make = hooks.needNewBodyStream { installBodyStream(make) }
        (self as? DataTask)?.installDataHooks(hooks)
    }

    /// Installs the closure as the source of a body that can be read only once, and of an upload without a
    /// body. A serializer gives a POST without parameters an empty body.
    private func installBodyStream(_ make: @escaping @Sendable (SessionTask) -> InputStream?) {
        let request = operation.request
        let stream: @Sendable () -> InputStream? = { [weak self] in self.flatMap(make) }
        if request.httpBodyStream != nil {
            if request.bodySource?.isRepeatable != true { operation.setBodyStreamProvider(stream) }
        } else if self is UploadTask, request.httpBody?.isEmpty != false {
            let length = request.value(forHTTPHeaderField: "Content-Length").flatMap { Int64($0) }
            operation.bodySource = .stream(length: length, makeStream: stream)
        }
    }
}

extension DataTask {
    /// What to do with a response after its head.
    public enum ResponseDisposition: Hashable, Sendable {
        /// Receive the body.
        case allow
        /// Cancel the task.
        case cancel
    }

    fileprivate func installDataHooks(_ hooks: SessionHooks) {
        hooks.prepare?(operation, self)
        if let handler = hooks.didReceiveData {
            operation.setPieceHandler { [weak self] piece, done in
                Callback(in: handler.isolation) { [self] in
                    if let self { callAssumingIsolation(of: handler, self, piece) }
                    done()
                }
            }
        }
        if let ask = hooks.didReceiveResponse {
            operation.setResponseHandler { [weak self] response, receive in
                guard let task = self, task.requestsDecision(receive) else { return }
                Callback(in: ask.isolation) {
                    switch callAssumingIsolation(of: ask, task, response) {
                    case .allow: task.allow()
                    case .cancel: task.cancel()
                    }
                }
                .perform(on: ConnectionOperation.processingQueue)
            }
        }
    }
}

// MARK: - Closures that are notified

/// Notifies the session's closures of an operation's events.
final class HookObserver: OperationObserver {
    private struct Target {
        weak var task: SessionTask?
    }

    private let target: Locked<Target>
    private let hooks: Locked<SessionHooks>

    init(of task: SessionTask) {
        target = Locked(Target(task: task))
        hooks = task.session.hooks
    }

    private var task: SessionTask? { target.withLock { $0.task } }

    /// Makes calls in order: here, or on their own executor when the callback has returned.
    private func call(_ calls: Callback?..., of operation: ConnectionOperation) {
        var isHere = true
        for call in calls.compactMap({ $0 }) {
            if isHere, call.callHere() == nil { continue }
            isHere = false
            operation.callInOrder(call)
        }
    }

    func operation(_ operation: ConnectionOperation, didUpload bytes: Int, total: Int64, expected: Int64) {
        guard let task, let handler = hooks.withLock({ $0.didSendBodyData }) else { return }
        call(Callback(handler, task, Int64(bytes), total, expected), of: operation)
    }

    func operation(_ operation: ConnectionOperation, didDownload bytes: Int, total: Int64, expected: Int64) {
        guard let task = task as? DownloadTask, let handler = hooks.withLock({ $0.didWriteData }) else {
            return
        }
        call(Callback(handler, task, Int64(bytes), total, expected), of: operation)
    }

    func operation(_ operation: ConnectionOperation, didResumeAt offset: Int64) {
        guard let task = task as? DownloadTask, let handler = hooks.withLock({ $0.didResumeDownload }) else {
            return
        }
        // Without a response, the whole file was there already.
        let length = operation.response.map { $0.wholeLength ?? -1 } ?? offset
        call(Callback(handler, task, offset, length), of: operation)
    }

    func operationDidFinish(_ operation: ConnectionOperation, wasRunning: Bool) {
        guard let task else { return }
        let (hooks, metrics) = (hooks.withLock { $0 }, operation.metricsOfEachTransfer)
        call(
            metrics.isEmpty ? nil : hooks.didFinishCollectingMetrics.map { Callback($0, task, metrics) },
            hooks.didComplete.map { Callback($0, task, operation.error) },
            of: operation
        )
    }
}

extension HTTPURLResponse {
    /// The length of the file that the body is, or is a part of; `nil` if unknown.
    fileprivate var wholeLength: Int64? {
        if statusCode == 206 {
            return value(forHTTPHeaderField: "Content-Range").flatMap {
                try? ContentRange(fieldValue: $0).total
            }
        }
        return expectedContentLength >= 0 ? expectedContentLength : nil
    }
}
