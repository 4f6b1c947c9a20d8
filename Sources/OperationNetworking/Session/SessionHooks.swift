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

/// The closures of a session. Each setter of ``URLSessionManager`` says when its own is called.
struct SessionHooks: Sendable {
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
    var prepare: (@Sendable (HTTPRequestOperation, DataTask, CallLine) -> Void)?
    var didFinishDownloading: (@isolated(any) @Sendable (DownloadTask, URL) -> URL?)?
    var didWriteData:
        (@isolated(any) @Sendable (DownloadTask, _ bytes: Int64, _ total: Int64, _ expected: Int64) -> Void)?
    var didResumeDownload:
        (@isolated(any) @Sendable (DownloadTask, _ offset: Int64, _ expected: Int64) -> Void)?
}
