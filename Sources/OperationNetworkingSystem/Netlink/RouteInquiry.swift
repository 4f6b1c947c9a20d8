import COperationNetworking

/// Requests interfaces and routes from the kernel, and waits for the answers, which are immediate. Used on
/// one thread at a time, and not on the network thread.
package final class RouteInquiry {
    /// The maximum number of attempts for a dump that changes interrupt.
    private static let tries = 8

    private let socket: NetlinkSocket
    private var sequence: UInt32 = 0

    /// - Throws: if the process has no descriptors left, or may not open such a socket.
    package init() throws(SystemError) {
        socket = try NetlinkSocket.questions()
    }

    /// All interfaces, by index.
    package func interfaces() throws(SystemError) -> [UInt32: NetworkInterface] {
        var interfaces: [UInt32: NetworkInterface] = [:]
        try dump(.interfaces) {
            interfaces = [:]
        } taking: { content in
            if case .interface(let interface) = content { interfaces[interface.index] = interface }
        }
        return interfaces
    }

    /// The routes of a family that satisfy `isWanted`, in the kernel's order. None if the kernel does not
    /// support the family.
    package func routes(_ family: NetworkRoute.Family, where isWanted: (NetworkRoute) -> Bool)
        throws(SystemError) -> [NetworkRoute]
    {
        var routes: [NetworkRoute] = []
        do throws(SystemError) {
            try dump(.routes(family)) {
                routes = []
            } taking: { content in
                if case .route(let route) = content, route.family == family, isWanted(route) {
                    routes.append(route)
                }
            }
        } catch {
            guard [EAFNOSUPPORT, EOPNOTSUPP, ENOENT].contains(error.code) else { throw error }
            return []
        }
        return routes
    }

    /// The route that a packet to `destination` would take; `nil` if there is none, or the packet is refused.
    package func route(to destination: RouteDestination) throws(SystemError) -> NetworkRoute? {
        let sequence = try send(.route(destination))
        while true {
            for record in try receive() where record.sequence == sequence {
                switch record.content {
                case .route(let route):
                    return route
                case .acknowledgement(let code):
                    // ENETUNREACH: there is no route. EHOSTUNREACH, EACCES, EINVAL: the packet is refused.
                    // ENODEV: no such interface.
                    let none = [ENETUNREACH, EHOSTUNREACH, EACCES, EINVAL, ENODEV, EAFNOSUPPORT, EOPNOTSUPP]
                    if code == 0 || none.contains(code) { return nil }
                    throw SystemError(code, "RTM_GETROUTE")
                case .malformed, .overrun:
                    throw SystemError(EPROTO, "RTM_GETROUTE")
                case .interface, .routeGone, .change, .rule, .done, .other:
                    break
                }
            }
        }
    }

    /// Repeats an inconsistent dump. The last attempt is used as it is: the change that interrupted it is
    /// reported to the caller separately.
    private func dump(
        _ request: NetlinkRequest,
        beginning: () -> Void,
        taking: (NetlinkRecord.Content) -> Void
    ) throws(SystemError) {
        for _ in 0..<Self.tries {
            beginning()
            if try dumpOnce(request, taking) { return }
        }
    }

    /// - Returns: whether it is consistent.
    private func dumpOnce(_ request: NetlinkRequest, _ take: (NetlinkRecord.Content) -> Void)
        throws(SystemError) -> Bool
    {
        let sequence = try send(request)
        var isWhole = true
        while true {
            for record in try receive() where record.sequence == sequence || record.content == .malformed {
                if record.isInterrupted { isWhole = false }
                switch record.content {
                case .done(let code), .acknowledgement(let code):
                    if code != 0 { throw SystemError(code, "NLM_F_DUMP") }
                    return isWhole
                case .malformed, .overrun:
                    throw SystemError(EPROTO, "NLM_F_DUMP")
                case .interface, .route, .routeGone, .change, .rule, .other:
                    take(record.content)
                }
            }
        }
    }

    private func send(_ request: NetlinkRequest) throws(SystemError) -> UInt32 {
        sequence &+= 1
        if sequence == 0 { sequence = 1 }
        try socket.send(request.bytes(sequence: sequence))
        return sequence
    }

    private func receive() throws(SystemError) -> [NetlinkRecord] {
        switch try socket.receive() {
        case .records(let records): return records
        case .overrun: throw SystemError(ENOBUFS, "recvfrom(AF_NETLINK)")
        case .nothing: throw SystemError(ETIMEDOUT, "recvfrom(AF_NETLINK)")
        }
    }
}
