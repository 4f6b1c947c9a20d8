import Foundation
import FoundationNetworking
import OperationNetworking

/// Observes the operation of one item, on its completion queue.
final class ItemObserver: OperationObserver {
    /// An event that the run reports.
    enum Occurrence: Sendable {
        /// The head of a response other than a redirect was received.
        case responded(HTTPURLResponse)
        /// The body is resumed after `at` bytes of an earlier attempt or run.
        case resumed(at: Int64)
        case startsOver(RestartReason)
        case retries(Retry)
        /// The number of received bytes, and the total, if known.
        case received(Int64, of: Int64?)
        /// Whether the operation is running.
        case runs(Bool)
    }

    private let handler: @Sendable (Occurrence) -> Void

    init(_ handler: @escaping @Sendable (Occurrence) -> Void) {
        self.handler = handler
    }

    func operation(_ operation: ConnectionOperation, didReceive response: HTTPURLResponse) {
        handler(.responded(response))
    }

    func operation(_ operation: ConnectionOperation, didResumeAt offset: Int64) {
        handler(.resumed(at: offset))
    }

    func operation(_ operation: ConnectionOperation, willStartOverBecause reason: RestartReason) {
        handler(.startsOver(reason))
    }

    func operation(_ operation: ConnectionOperation, willRetry retry: Retry) {
        handler(.retries(retry))
    }

    func operation(
        _ operation: ConnectionOperation,
        didDownload bytes: Int,
        total: Int64,
        expected: Int64
    ) {
        handler(.received(total, of: expected >= 0 ? expected : nil))
    }

    func operationDidStart(_ operation: ConnectionOperation) {
        handler(.runs(true))
    }

    func operationDidPause(_ operation: ConnectionOperation) {
        handler(.runs(false))
    }

    func operationDidResume(_ operation: ConnectionOperation) {
        handler(.runs(true))
    }

    func operationDidFinish(_ operation: ConnectionOperation, wasRunning: Bool) {
        handler(.runs(false))
    }
}

extension Retry {
    /// The reason, as a clause.
    var reason: String {
        switch cause {
        case .response(let response):
            let meaning = HTTPURLResponse.localizedString(forStatusCode: response.statusCode)
            return "the server answered \(response.statusCode) (\(meaning))"
        case .error(let error):
            return "after a failure: \(Failure(error).sentence)"
        case .busyServer(let url):
            return "\(url.host ?? "the server") requested the delay for another file"
        }
    }
}
