import Dispatch
import Foundation
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

/// AFNetworking's own tests of its reachability manager, replayed by their behavior on this machine's kernel.
/// RCH-01 and RCH-02, that a manager cannot be made without knowing of what, have no meaning here: one
/// without a domain or an address is that of the default routes.
@Suite(.timeLimit(.minutes(1)))
struct AFNetworkingReachabilityTests {
    private let address: NetworkReachabilityManager
    private let domain = NetworkReachabilityManager(domain: "localhost")

    init() throws {
        address = try #require(NetworkReachabilityManager(address: "127.0.0.1"))
        for manager in [address, domain] { manager.completionQueue = DispatchQueue(label: "callbacks") }
    }

    @Test("RCH-03 the manager of an address starts in the state unknown")
    func addressStartsUnknown() {
        #expect(address.status == .unknown)
    }

    @Test("RCH-04 the manager of a domain starts in the state unknown")
    func domainStartsUnknown() {
        #expect(domain.status == .unknown)
    }

    private func expectNotification(of manager: NetworkReachabilityManager) async throws {
        let heard = Recorder<NetworkReachabilityStatus?>()
        let key = NetworkReachabilityManager.statusUserInfoKey
        let token = NotificationCenter.default.addObserver(
            forName: .reachabilityDidChange,
            object: manager,
            queue: nil
        ) { heard.append($0.userInfo?[key] as? NetworkReachabilityStatus) }
        defer { NotificationCenter.default.removeObserver(token) }
        manager.startMonitoring()
        #expect(try await heard.wait(within: .seconds(5)) == [.reachableViaWiFi])
        #expect(manager.isReachable)
    }

    @Test("RCH-05 the manager of an address posts a notification with its status")
    func addressNotification() async throws {
        try await expectNotification(of: address)
    }

    @Test("RCH-06 the manager of a domain posts a notification with its status")
    func domainNotification() async throws {
        try await expectNotification(of: domain)
    }

    private func expectClosure(of manager: NetworkReachabilityManager) async throws {
        let heard = Recorder<NetworkReachabilityStatus>()
        manager.setStatusChange { heard.append($0) }
        manager.startMonitoring()
        #expect(try await heard.wait(within: .seconds(5)) == [.reachableViaWiFi])
        #expect(manager.isReachable)
    }

    @Test("RCH-07 the manager of an address calls its closure")
    func addressClosure() async throws {
        try await expectClosure(of: address)
    }

    @Test("RCH-08 the manager of a domain calls its closure")
    func domainClosure() async throws {
        try await expectClosure(of: domain)
    }
}
