import COperationNetworking
import Glibc

/// The result of resolving a host; see getaddrinfo(3).
package enum HostLookup: Hashable, Sendable {
    /// At least one address, in order of preference.
    case found([RouteDestination])
    /// The name does not exist, or has no address.
    case none
    /// No name server answered.
    case temporaryFailure

    /// Resolves a name, or parses an address. Blocks on name servers: not for the network thread.
    package init(host: String) {
        var first: UnsafeMutablePointer<addrinfo>?
        let code = cnetlink_look_up(host, &first)
        defer { if let first { freeaddrinfo(first) } }
        guard code == 0 else {
            let isTemporary = code == EAI_AGAIN || code == EAI_SYSTEM || code == EAI_MEMORY
            self = isTemporary ? .temporaryFailure : .none
            return
        }
        var destinations: [RouteDestination] = []
        var next = first
        while let info = next {
            var octets = [UInt8](repeating: 0, count: 16)
            var scope: UInt32 = 0
            let count = Int(cnetlink_octets(info, &octets, &scope))
            if let address = InternetAddress(octets: Array(octets.prefix(count))) {
                destinations.append(RouteDestination(address, interface: scope))
            }
            next = info.pointee.ai_next
        }
        self = destinations.isEmpty ? .none : .found(destinations)
    }
}
