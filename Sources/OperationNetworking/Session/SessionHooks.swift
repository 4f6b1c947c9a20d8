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
    var didBecomeInvalid: (@Sendable ((any Error)?) -> Void)?
    var sessionChallenge: (@Sendable (AuthenticationChallenge) async -> AuthenticationChallenge.Answer)?
    var taskChallenge:
        (@Sendable (SessionTask, AuthenticationChallenge) async -> AuthenticationChallenge.Answer)?
    var needNewBodyStream: (@Sendable (SessionTask) -> InputStream?)?
    var willPerformRedirection: (@Sendable (SessionTask, HTTPURLResponse, URLRequest) -> URLRequest?)?
    var didSendBodyData: (@Sendable (SessionTask, _ bytes: Int64, _ total: Int64, _ expected: Int64) -> Void)?
    var didComplete: (@Sendable (SessionTask, (any Error)?) -> Void)?
    var didFinishCollectingMetrics: (@Sendable (SessionTask, [TransferMetrics]) -> Void)?
    var didReceiveResponse: (@Sendable (DataTask, HTTPURLResponse) -> DataTask.ResponseDisposition)?
    var didBecomeDownload: (@Sendable (DataTask, DownloadTask) -> Void)?
    var didReceiveData: (@Sendable (DataTask, Data) -> Void)?
    /// Set for the cache. Called with the operation of a data task before that starts, and with the delegate
    /// queue.
    var prepare: (@Sendable (HTTPRequestOperation, DataTask, DispatchQueue) -> Void)?
    var didFinishDownloading: (@Sendable (DownloadTask, URL) -> URL?)?
    var didWriteData: (@Sendable (DownloadTask, _ bytes: Int64, _ total: Int64, _ expected: Int64) -> Void)?
    var didResumeDownload: (@Sendable (DownloadTask, _ offset: Int64, _ expected: Int64) -> Void)?
}
