import Foundation
import FoundationNetworking
import OperationNetworking

/// Hears what happens to the operation of one item, on its completion queue.
final class ItemObserver: OperationObserver {
    /// An event that the run reports.
    enum Occurrence: Sendable {
        /// The head of a response came that is not a redirect.
        case responded(HTTPURLResponse)
        /// The body goes on after `at` bytes of an earlier attempt or run.
        case resumed(at: Int64)
        case startsOver(RestartReason)
        case retries(Retry)
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
}

extension Retry {
    /// Why, as a clause.
    var reason: String {
        switch cause {
        case .response(let response):
            let meaning = HTTPURLResponse.localizedString(forStatusCode: response.statusCode)
            return "the server answered \(response.statusCode) (\(meaning))"
        case .error(let error):
            return "because of this: \(Failure(error).sentence)"
        case .busyServer(let url):
            return "\(url.host ?? "the server") asked for that with another file"
        }
    }
}
