import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// The end of the route that a manager looks at.
enum ReachabilityTarget: Hashable, Sendable {
    /// Wherever the default routes lead.
    case internet
    /// A name that is looked up.
    case host(String)
    /// An address, with the zone that says behind which interface a link-local one is (RFC 4007 §11).
    case address(InternetAddress, zone: String?)

    /// `nil`: it is no address.
    init?(address text: String) {
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first.flatMap({ InternetAddress(String($0)) }) else { return nil }
        let zone = parts.count > 1 ? String(parts[1]) : nil
        // Only IPv6 has zones.
        guard zone == nil || (address.octets.count == 16 && zone?.isEmpty == false) else { return nil }
        self = .address(address, zone: zone)
    }

    /// The destinations among these interfaces; empty: there is none now.
    func destinations(in table: RouteTable, known addresses: [RouteDestination]?) -> [RouteDestination]? {
        switch self {
        case .internet: nil
        case .host: addresses
        case .address(let address, nil): [RouteDestination(address)]
        case .address(let address, let zone?):
            table.index(ofZone: zone).map { [RouteDestination(address, interface: $0)] } ?? []
        }
    }
}

/// The surroundings of a manager, the system or a test: whom it asks, and what wakes it.
struct ReachabilityEnvironment: Sendable {
    /// Looks a name up, and gives the answer on any thread.
    typealias Look = @Sendable (_ name: String, _ answer: @escaping @Sendable (HostLookup) -> Void) -> Void

    /// Calls a closure after some seconds, on any thread.
    typealias Wait = @Sendable (_ seconds: TimeInterval, _ body: @escaping @Sendable () -> Void) -> Void

    var monitor: RouteMonitor
    var look: Look
    var wait: Wait

    /// A lookup takes as long as the servers let it.
    private static let names = DispatchQueue(label: "OperationNetworking.names", attributes: .concurrent)

    static let system = ReachabilityEnvironment(
        monitor: .shared,
        look: { name, answer in names.async { answer(HostLookup(host: name)) } },
        wait: { seconds, body in names.asyncAfter(deadline: .now() + seconds, execute: body) }
    )
}
