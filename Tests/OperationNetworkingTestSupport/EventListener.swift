import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting

/// Records the events of operations, each as a word, with the name of the listener before it if there is one.
///
/// How often progress comes depends on the machine, so it is kept apart.
final class EventListener: OperationObserver {
    let events: Recorder<String>
    /// The paths of the requests of operations that finished.
    let paths = Recorder<String>()
    /// The totals of bytes.
    let downloaded = Recorder<Int64>()
    let uploaded = Recorder<Int64>()
    private let prefix: String

    init(_ name: String? = nil, in events: Recorder<String> = Recorder()) {
        prefix = name.map { "\($0) " } ?? ""
        self.events = events
    }

    private func note(_ event: String) {
        events.append(prefix + event)
    }

    func operationDidStart(_ operation: ConnectionOperation) { note("started") }

    func operationDidPause(_ operation: ConnectionOperation) { note("paused") }

    func operationDidResume(_ operation: ConnectionOperation) { note("resumed") }

    func operation(_ operation: ConnectionOperation, didReceive response: HTTPURLResponse) {
        note("response")
    }

    func operation(
        _ operation: ConnectionOperation,
        didDownload bytes: Int,
        total: Int64,
        expected: Int64
    ) {
        downloaded.append(total)
    }

    func operation(_ operation: ConnectionOperation, didUpload bytes: Int, total: Int64, expected: Int64) {
        uploaded.append(total)
    }

    func operation(
        _ operation: ConnectionOperation,
        didFollow redirect: HTTPURLResponse,
        to request: URLRequest
    ) {
        note("redirected")
    }

    func operation(_ operation: ConnectionOperation, didResumeAt offset: Int64) { note("resuming") }

    func operation(_ operation: ConnectionOperation, willStartOverBecause reason: RestartReason) {
        note("starting over")
    }

    func operation(_ operation: ConnectionOperation, willRetry retry: Retry) { note("retrying") }

    func operationDidFinish(_ operation: ConnectionOperation, wasRunning: Bool) {
        paths.append(operation.request.url?.path ?? "")
        note("finished")
    }
}
