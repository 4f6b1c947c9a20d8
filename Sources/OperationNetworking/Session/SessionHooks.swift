import Dispatch
import Foundation
import FoundationNetworking

extension DataTask {
    /// The answer to the head of a response.
    public enum ResponseDisposition: Hashable, Sendable {
        /// Go on.
        case allow
        /// Cancel the task.
        case cancel
        /// Make a ``DownloadTask`` of it: the body becomes a file.
        case becomeDownload
    }
}

/// The closures of a manager, which its session and the one after a reset share. Each setter of
/// ``URLSessionManager`` says when its own is called.
///
/// | event                                  | the closures are                                      |
/// |----------------------------------------|-------------------------------------------------------|
/// | a session is reset                     | also those of the new one                             |
/// | a session becomes invalid, another is valid or has tasks | kept for that one                   |
/// | the last one becomes invalid           | released                                              |
/// | one is set after that                  | not taken: nothing would ever call it, or release it  |
/// | a reset after that                     | taken again                                           |
///
/// Stored properties: 16. Each closure is set by itself.
struct SessionHooks: Sendable {
    /// The sessions that are not invalid.
    private(set) var sessions = 1

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
    var didBecomeDownload: (@isolated(any) @Sendable (DataTask, DownloadTask) -> Void)?
    var didReceiveData: (@isolated(any) @Sendable (DataTask, Data) -> Void)?
    /// Set for the cache. Called with the operation of a data task before that starts, and with the line of
    /// the task's events.
    var prepare: (@Sendable (HTTPRequestOperation, DataTask, CallbackQueue) -> Void)?
    var didFinishDownloading: (@isolated(any) @Sendable (DownloadTask, URL) -> URL?)?
    var didWriteData:
        (@isolated(any) @Sendable (DownloadTask, _ bytes: Int64, _ total: Int64, _ expected: Int64) -> Void)?
    var didResumeDownload:
        (@isolated(any) @Sendable (DownloadTask, _ offset: Int64, _ expected: Int64) -> Void)?

    /// Another session has them, too.
    mutating func join() {
        sessions += 1
    }

    /// A session has become invalid.
    /// - Returns: the closures that it had.
    mutating func leave() -> SessionHooks {
        let hooks = self
        sessions -= 1
        if sessions == 0 {
            self = SessionHooks()
            sessions = 0
        }
        return hooks
    }

    /// Takes over the closures of a session that this one's is a copy of.
    mutating func copy(_ others: SessionHooks) {
        let own = sessions
        self = others
        sessions = own
    }
}
