import Dispatch
import Foundation
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// AFNetworking's own tests of its reachability manager, replayed by their behavior on this machine's kernel:
/// they need no server. `Tests/AFNetworking.md` has the reason why RCH-01 and RCH-02 are not here.
@Suite(.timeLimit(.minutes(1)))
struct AFNetworkingReachabilityTests {
    private let address: NetworkReachabilityManager
    private let domain = NetworkReachabilityManager(domain: "localhost")

    init() throws {
        address = try #require(NetworkReachabilityManager(address: "127.0.0.1"))
        for manager in [address, domain] { manager.completionQueue = DispatchQueue(label: "callbacks") }
    }

    @Test("RCH-03 testAddressReachabilityStartsInUnknownState")
    func addressStartsUnknown() {
        #expect(address.status == .unknown)
    }

    @Test("RCH-04 testDomainReachabilityStartsInUnknownState")
    func domainStartsUnknown() {
        #expect(domain.status == .unknown)
    }

    private func expectNotification(of manager: NetworkReachabilityManager) async throws {
        let received = Recorder<NetworkReachabilityStatus?>()
        let key = NetworkReachabilityManager.statusUserInfoKey
        let token = NotificationCenter.default.addObserver(
            forName: .reachabilityDidChange,
            object: manager,
            queue: nil
        ) { received.append($0.userInfo?[key] as? NetworkReachabilityStatus) }
        defer { NotificationCenter.default.removeObserver(token) }
        manager.startMonitoring()
        #expect(try await received.wait() == [.reachableViaWiFi])
        #expect(manager.isReachable)
    }

    @Test("RCH-05 testAddressReachabilityNotification, testObjectPostingReachabilityManagerNotification")
    func addressNotification() async throws {
        try await expectNotification(of: address)
    }

    @Test("RCH-06 testDomainReachabilityNotification")
    func domainNotification() async throws {
        try await expectNotification(of: domain)
    }

    private func expectClosure(of manager: NetworkReachabilityManager) async throws {
        let received = Recorder<NetworkReachabilityStatus>()
        manager.setStatusChange { received.append($0) }
        manager.startMonitoring()
        #expect(try await received.wait() == [.reachableViaWiFi])
        #expect(manager.isReachable)
    }

    @Test("RCH-07 testAddressReachabilityBlock")
    func addressClosure() async throws {
        try await expectClosure(of: address)
    }

    @Test("RCH-08 testDomainReachabilityBlock")
    func domainClosure() async throws {
        try await expectClosure(of: domain)
    }
}
