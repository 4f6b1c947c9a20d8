import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// Notifies its members, reachability managers, of the kernel's routing. The process has one pair of sockets,
/// which is open while there are members. All work is done on the monitor's own queue, not on the network thread:
/// dumping the full table of a router takes time.
///
/// The first member subscribes before the first dump, so a change during the dump is received after it.
final class RouteMonitor: Sendable {
    /// Identifies a member.
    struct Membership: Hashable, Sendable {
        private let number: Int
        private static let last = Locked(0)

        init() {
            number = Self.last.withLock { last in
                last += 1
                return last
            }
        }
    }

    /// The current routing, valid during a call on the monitor's queue.
    struct Routes {
        let table: RouteTable
        fileprivate let monitor: RouteMonitor

        /// The status of an address; `nil` if the kernel could not be asked.
        func status(of destination: RouteDestination) -> NetworkReachabilityStatus? {
            do {
                return table.status(of: try monitor.state.withLock { try $0.reader.route(to: destination) })
            } catch {
                return nil
            }
        }
    }

    private struct Member {
        weak var object: NetworkReachabilityManager?
    }

    private struct State {
        let reader: any RouteReading
        var members: [Membership: Member] = [:]
        /// `nil` while the sockets are closed.
        var table: RouteTable?
        /// The number of failed attempts to read a change. If it is 0, the table is up to date.
        var failedReads = 0
        /// Whether another attempt is scheduled.
        var hasRetry = false
    }

    /// Calls a closure after a number of seconds, on any thread.
    typealias Clock = @Sendable (_ seconds: Double, _ body: @escaping @Sendable () -> Void) -> Void

    static let shared = RouteMonitor(KernelRoutes())

    private let queue = DispatchQueue(label: "OperationNetworking.reachability")
    // Used on `queue` only, so the lock is never contended.
    private let state: Locked<State>
    private let wait: Clock

    init(
        _ reader: sending any RouteReading,
        wait: @escaping Clock = { DispatchQueue.global().asyncAfter(deadline: .now() + $0, execute: $1) }
    ) {
        state = Locked(State(reader: reader))
        self.wait = wait
    }

    /// Whether the sockets are open.
    var isOpen: Bool { queue.sync { state.withLock { $0.table != nil } } }

    /// Makes `object` a member if it is monitoring, and notifies it of the routes before this returns, even if
    /// it was a member before. Must not be called on the monitor's queue.
    /// - Throws: a `POSIXError` that says why the kernel cannot be asked.
    func join(_ object: NetworkReachabilityManager) throws {
        try queue.sync {
            guard object.isMonitoring else { return remove(object.routeMembership) }
            let table = try state.withLock { state in
                let table = try state.table ?? open(&state)
                state.members[object.routeMembership] = Member(object: object)
                return table
            }
            object.routesDidChange(Routes(table: table, monitor: self))
        }
    }

    /// Ends the membership of an object that is no longer monitoring. Returns at once.
    func reconsider(_ object: NetworkReachabilityManager) {
        let membership = object.routeMembership
        queue.async { [weak object] in
            if object?.isMonitoring != true { self.remove(membership) }
        }
    }

    /// Ends a membership. Returns at once.
    func leave(_ membership: Membership) {
        queue.async { self.remove(membership) }
    }

    /// Calls `body` with the routes on the monitor's queue, if the membership has not ended. Returns at once.
    func withRoutes(for membership: Membership, _ body: @escaping @Sendable (Routes) -> Void) {
        queue.async {
            let table = self.state.withLock { $0.members[membership] == nil ? nil : $0.table }
            if let table { body(Routes(table: table, monitor: self)) }
        }
    }

    private func open(_ state: inout State) throws -> RouteTable {
        do {
            try state.reader.open(on: queue) { [weak self] in self?.refresh() }
            let table = try state.reader.table()
            state.table = table
            return table
        } catch {
            state.reader.close()
            throw POSIXError(error)
        }
    }

    private func remove(_ membership: Membership) {
        state.withLock { state in
            guard state.members.removeValue(forKey: membership) != nil, state.members.isEmpty else { return }
            state.reader.close()
            state.table = nil
            (state.failedReads, state.hasRetry) = (0, false)
        }
    }

    /// A change that cannot be read for now (no memory, no descriptors) is read again after 0.1, 0.2, 0.4
    /// seconds and so on up to a minute, and with the next change. Until then the earlier table stays.
    private func refresh(isRetry: Bool = false) {
        let (news, delay) = state.withLock {
            state -> (([NetworkReachabilityManager], RouteTable)?, Double?) in
            if isRetry { state.hasRetry = false }
            guard state.table != nil else { return (nil, nil) }
            let hasChanged = state.reader.takeChanges()
            guard hasChanged || state.failedReads > 0 else { return (nil, nil) }
            guard let table = try? state.reader.table() else {
                state.failedReads += 1
                guard !state.hasRetry else { return (nil, nil) }
                state.hasRetry = true
                return (nil, min(60, 0.1 * pow(2, Double(state.failedReads - 1))))
            }
            state.failedReads = 0
            state.table = table
            return ((state.members.values.compactMap(\.object), table), nil)
        }
        if let delay {
            wait(delay) { [weak self] in self?.queue.async { [weak self] in self?.refresh(isRetry: true) } }
        }
        guard let (members, table) = news else { return }
        for member in members { member.routesDidChange(Routes(table: table, monitor: self)) }
    }
}

extension POSIXError {
    /// Converts a system error to Foundation's.
    fileprivate init(_ error: any Error) {
        let code = (error as? SystemError).flatMap { POSIXErrorCode(rawValue: $0.code) }
        self.init(code ?? .EIO, userInfo: [NSDebugDescriptionErrorKey: "\(error)"])
    }
}

/// Reads the kernel's routing, or simulates it in tests. Used on one thread at a time, never on the network
/// thread.
protocol RouteReading: AnyObject {
    /// Calls `wake` on `queue` for each change that the kernel reports, until ``close()``.
    func open(on queue: DispatchQueue, wake: @escaping @Sendable () -> Void) throws

    /// Returns whether a relevant change may have happened since the last call.
    func takeChanges() -> Bool

    /// Reads the interfaces and the default routes.
    func table() throws -> RouteTable

    /// Returns the route that a packet to `destination` would take; `nil` if there is none, or if it refuses
    /// the packet.
    func route(to destination: RouteDestination) throws -> NetworkRoute?

    func close()
}
