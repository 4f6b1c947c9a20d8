import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// Reads the kernel's routing with rtnetlink.
///
/// A change only causes everything to be read again, because not every change is reported:
///
/// | What happens                                                 | What rtnetlink reports                                    |
/// |--------------------------------------------------------------|-----------------------------------------------------------|
/// | a route is added or removed                                  | the route                                                 |
/// | an interface is switched off                                 | the link; its IPv4 routes disappear without a message     |
/// | a nexthop object is removed                                  | the object; the IPv4 routes that name it disappear so     |
/// | the last address of an interface is removed                  | the address; the default route through it disappears so   |
/// | a cable is unplugged, an access point is lost                | the link's operational state; the routes stay             |
/// | changes come faster than they are read                       | `ENOBUFS`: some are lost                                  |
/// | the table changes during a dump                              | `NLM_F_DUMP_INTR` in its messages                         |
/// | a bridge loses a port                                        | `RTM_DELLINK` with `AF_BRIDGE`, while the interface stays |
///
/// Links and the routes of both families are dumped, which takes fractions of a millisecond where there are few.
/// Changes that arrive together are followed by one dump, and nothing is updated incrementally, so nothing can drift.
///
/// | Change                                            | Read again                                           |
/// |---------------------------------------------------|------------------------------------------------------|
/// | an interface is new, removed or changed           | yes                                                  |
/// | a message about an interface that has not changed | no: a wireless one is reported at each scan          |
/// | an address, a nexthop object                      | yes                                                  |
/// | a default route                                   | yes                                                  |
/// | another route, a rule                             | if the kernel was asked about an address             |
/// | a message that was lost, or is malformed          | yes                                                  |
final class KernelRoutes: RouteReading {
    /// The number of datagrams that are read in a row, so that a flood of them does not block the queue.
    private static let turn = 256

    private var changes: NetlinkSocket?
    private var inquiry: RouteInquiry?
    private var source: (any DispatchSourceRead)?
    private var interfaces: [UInt32: NetworkInterface] = [:]
    private var wasAskedForAddress = false

    func open(on queue: DispatchQueue, wake: @escaping @Sendable () -> Void) throws {
        let changes = try NetlinkSocket.changes()
        inquiry = try RouteInquiry()
        let source = DispatchSource.makeReadSource(fileDescriptor: changes.descriptor, queue: queue)
        source.setEventHandler(handler: wake)
        // The descriptor is closed after Dispatch has released it.
        let held = Locked<NetlinkSocket?>(changes)
        source.setCancelHandler { held.change { $0 = nil } }
        self.changes = changes
        self.source = source
        source.activate()
    }

    func takeChanges() -> Bool {
        guard let changes else { return false }
        var hasChanged = false
        for _ in 0..<Self.turn {
            do {
                switch try changes.receive() {
                case .records(let records): hasChanged = records.contains(where: matters) || hasChanged
                case .overrun: hasChanged = true
                case .nothing: return hasChanged
                }
            } catch {
                // The message that could not be read may have been a change.
                return true
            }
        }
        return hasChanged
    }

    func table() throws -> RouteTable {
        guard let inquiry else { return RouteTable() }
        interfaces = try inquiry.interfaces()
        return RouteTable(
            interfaces: interfaces,
            defaultRoutes: try NetworkRoute.Family.allCases.flatMap {
                try inquiry.routes($0, where: RouteTable.decides)
            }
        )
    }

    func route(to destination: RouteDestination) throws -> NetworkRoute? {
        wasAskedForAddress = true
        return try inquiry?.route(to: destination)
    }

    func close() {
        source?.cancel()
        (source, changes, inquiry) = (nil, nil, nil)
    }

    private func matters(_ record: NetlinkRecord) -> Bool {
        switch record.content {
        case .interface(let interface): interfaces[interface.index] != interface
        case .route(let route), .routeGone(let route): wasAskedForAddress || RouteTable.decides(route)
        case .rule: wasAskedForAddress
        case .change, .overrun, .malformed: true
        case .done, .acknowledgement, .other: false
        }
    }
}
