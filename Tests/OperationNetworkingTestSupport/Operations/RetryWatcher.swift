import Foundation
import FoundationNetworking
import OperationNetworkingSystem
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

extension ScriptedServer {
    private var host: HostWaits.Host { HostWaits.Host(servers: .network, origin: Origin(url)) }

    /// As if it had asked an operation for a delay, when `body` has been called on the network thread.
    func beginRest(seconds: Double, after body: @escaping @Sendable () -> Void = {}) {
        NetworkThread.shared.perform { [host] network in
            body()
            network.hosts.note(host, seconds: seconds, now: .now)
        }
    }

    /// The seconds for which it has still to be left alone; `nil` if that is over.
    func remainingRest() async throws -> Double? {
        let answer = Recorder<Double?>()
        NetworkThread.shared.perform { [host] in answer.append($0.hosts.remaining(for: host, now: .now)) }
        return try await answer.wait()[0]
    }
}

/// No test is to wait for the server of an earlier one, whose port it may have.
func forgetHostWaits() {
    NetworkThread.shared.perform { $0.hosts = HostWaits() }
}
