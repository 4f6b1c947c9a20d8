import Dispatch
import Foundation
import OperationNetworking

// Prints a line for everything that a manager tells, with its isReachable at that moment:
//
//     OperationNetworkingReachabilityProbe internet
//     OperationNetworkingReachabilityProbe domain localhost
//     OperationNetworkingReachabilityProbe address 192.0.2.1
//
//     started Not Reachable false
//     closure Reachable via WiFi true
//     notification Reachable via WiFi true
//     sequence Reachable via WiFi true

let arguments = CommandLine.arguments.dropFirst()
let found: NetworkReachabilityManager? =
    switch (arguments.first, arguments.dropFirst().first) {
    case ("internet", nil): .shared
    case ("domain", let name?): NetworkReachabilityManager(domain: name)
    case ("address", let text?): NetworkReachabilityManager(address: text)
    default: nil
    }
guard let manager = found else {
    FileHandle.standardError.write(Data("usage: internet | domain NAME | address ADDRESS\n".utf8))
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
