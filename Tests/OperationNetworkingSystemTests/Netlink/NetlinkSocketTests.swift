import Foundation
import OperationNetworkingSystem
import Testing

/// The kernel of this machine answers.
@Suite struct NetlinkSocketTests {
    @Test func requestsAreAsTheKernelExpectsThem() throws {
        #expect(
            NetlinkRequest.interfaces.bytes(sequence: 5).prefix(16) == [
                32, 0, 0, 0, 18, 0, 1, 3, 5, 0, 0, 0, 0, 0, 0, 0,
            ]
        )
        #expect(
            NetlinkRequest.routes(.ipv6).bytes(sequence: 1).dropFirst(16) == [
                10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            ]
        )
        let address = try #require(InternetAddress("10.1.2.3"))
        let bytes = NetlinkRequest.route(RouteDestination(address, interface: 2)).bytes(sequence: 1)
        #expect(bytes.prefix(8) == [44, 0, 0, 0, 26, 0, 1, 0])
        #expect(bytes.dropFirst(16).prefix(2) == [2, 32])
        #expect(bytes.suffix(16) == [8, 0, 1, 0, 10, 1, 2, 3, 8, 0, 4, 0, 2, 0, 0, 0])
    }

    @Test func theLoopbackIsAnInterface() throws {
        let interfaces = try RouteInquiry().interfaces()
        #expect(interfaces.values.contains { $0.name == "lo" && $0.isLoopback })
    }

    @Test func anAddressOfThisMachineIsLocal() throws {
        let inquiry = try RouteInquiry()
        let address = try #require(InternetAddress("127.0.0.1"))
        #expect(try inquiry.route(to: RouteDestination(address))?.kind == .local)
        // And again: the answers do not get mixed up.
        #expect(try inquiry.routes(.ipv4) { _ in true }.contains { $0.kind == .local })
        #expect(try inquiry.route(to: RouteDestination(address))?.kind == .local)
    }

    @Test func aMissingInterfaceHasNoRoute() throws {
        let address = try #require(InternetAddress("fe80::1"))
        #expect(try RouteInquiry().route(to: RouteDestination(address, interface: 0x7FFF_FFFF)) == nil)
    }

    @Test func nothingIsReportedWhileNothingChanges() throws {
        let socket = try NetlinkSocket.changes()
        var reading = try socket.receive()
        // Another process may have changed something just now.
        for _ in 0..<100 where reading != .nothing { reading = try socket.receive() }
        #expect(reading == .nothing)
    }

    @Test(
        arguments: [("127.0.0.1", [127, 0, 0, 1]), ("::1", [UInt8](repeating: 0, count: 15) + [1])]
            as [(String, [UInt8])]
    )
    func anAddressIsLookedUpAsItself(text: String, octets: [UInt8]) throws {
        let address = try #require(InternetAddress(octets: octets))
        #expect(HostLookup(host: text) == .found([RouteDestination(address)]))
    }

    @Test func localhostHasAnAddress() {
        guard case .found = HostLookup(host: "localhost") else {
            Issue.record("localhost has no address")
            return
        }
    }

    /// `.invalid` is never a host ([RFC 6761 §6.4](https://www.rfc-editor.org/rfc/rfc6761#section-6.4)).
    @Test func aNameWithoutAnAddressIsNotFound() {
        #expect([.none, .temporaryFailure].contains(HostLookup(host: "no.such.invalid")))
    }
}
