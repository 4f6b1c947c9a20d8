import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking

// Prints a line for everything that a manager reports, with its isReachable at that moment:
//
//     OperationNetworkingReachabilityProbe internet
//     OperationNetworkingReachabilityProbe domain localhost
//     OperationNetworkingReachabilityProbe address 192.0.2.1
//
//     started Not Reachable false
//     closure Reachable via WiFi true
//     notification Reachable via WiFi true
//     sequence Reachable via WiFi true
//
// Or what becomes of a request whose only retry waits for a network: one that did not would fail again.
//
//     OperationNetworkingReachabilityProbe get http://127.0.0.1:8080/
//
//     retrying -1004
//     ended 200 true

let arguments = CommandLine.arguments.dropFirst()
if arguments.first == "get", let url = arguments.dropFirst().first.flatMap({ URL(string: $0) }) {
    await get(url)
    exit(0)
}
let found: NetworkReachabilityManager? =
    switch (arguments.first, arguments.dropFirst().first) {
    case ("internet", nil): .shared
    case ("domain", let name?): NetworkReachabilityManager(domain: name)
    case ("address", let text?): NetworkReachabilityManager(address: text)
    default: nil
    }
guard let manager = found else {
    FileHandle.standardError.write(Data("usage: internet | domain NAME | address ADDRESS | get URL\n".utf8))
    exit(64)
}

@Sendable func say(
    _ source: String,
    _ status: NetworkReachabilityStatus,
    _ manager: NetworkReachabilityManager
) {
    FileHandle.standardOutput.write(Data("\(source) \(status) \(manager.isReachable)\n".utf8))
}

// This thread waits for the sequence.
manager.completionQueue = DispatchQueue(label: "callbacks")
manager.setStatusChange { [unowned manager] in say("closure", $0, manager) }
let token = NotificationCenter.default.addObserver(
    forName: .reachabilityDidChange,
    object: manager,
    queue: nil
) {
    guard let sender = $0.object as? NetworkReachabilityManager,
        let status = $0.userInfo?[NetworkReachabilityManager.statusUserInfoKey] as? NetworkReachabilityStatus
    else { return }
    say("notification", status, sender)
}
manager.startMonitoring()
say("started", manager.status, manager)
if let error = manager.monitoringError { print("error \(error)") }
for await status in manager.statuses { say("sequence", status, manager) }
withExtendedLifetime(token) {}

/// Prints the error of an attempt.
final class Attempts: OperationObserver {
    func operation(_ operation: ConnectionOperation, willRetry retry: Retry) {
        guard case .error(let error as URLError) = retry.cause else { return }
        FileHandle.standardOutput.write(Data("retrying \(error.code.rawValue)\n".utf8))
    }
}

@MainActor func get(_ url: URL) async {
    var policy = RetryPolicy(maximumRetries: 1)
    // Also the longest time that a retry waits once there is a network: not all come at once.
    policy.initialDelay = 1
    policy.network = NetworkReachabilityManager.shared
    let operation = HTTPRequestOperation(request: URLRequest(url: url))
    operation.completionQueue = DispatchQueue(label: "callbacks")
    operation.retryPolicy = policy
    operation.addObserver(Attempts())
    operation.start()
    let isDone = (try? await operation.value) != nil
    let end = operation.response.map { "\($0.statusCode)" } ?? "without a response"
    FileHandle.standardOutput.write(Data("ended \(end) \(isDone)\n".utf8))
}
