import Foundation
import FoundationNetworking
import OperationNetworkingTesting

@testable import OperationNetworking

/// Records why, and for how long, operations wait.
final class RetryWatcher: OperationObserver {
    let reasons = Recorder<String>()
    let delays = Recorder<TimeInterval>()
    let redirects = Recorder<String>()

    func operation(_ operation: ConnectionOperation, willRetry retry: Retry) {
        delays.append(retry.delay)
        switch retry.cause {
        case .response(let response): reasons.append("\(response.statusCode)")
        case .error(let error): reasons.append("\((error as? URLError)?.code.rawValue ?? 0)")
        case .busyServer: reasons.append("busy")
        }
    }

    func operation(
        _ operation: ConnectionOperation,
        didFollow redirect: HTTPURLResponse,
        to request: URLRequest
    ) {
        redirects.append(request.url?.path ?? "")
    }
}

/// No test is to wait for the server of an earlier one, whose port it may have.
func forgetHostWaits() {
    NetworkThread.shared.perform { $0.hosts = HostWaits() }
}
