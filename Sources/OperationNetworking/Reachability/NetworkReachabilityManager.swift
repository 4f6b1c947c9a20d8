public import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// Monitors whether there is a route to the internet, to a host, or to an address.
///
/// ```swift
/// let reachability = NetworkReachabilityManager.shared
/// reachability.setStatusChange { status in queue.isSuspended = !status.isReachable }
/// reachability.startMonitoring()
/// ```
///
/// The kernel reports changes (rtnetlink); nothing is polled, and nothing is sent. A route does not prove that a
/// server answers: it may be down, and a server without a route may be reached through a proxy. So do not check
/// the status before a request. Send it, and use the status to decide when to try again.
///
/// | Manager           | Reachable when                                                                       |
/// |-------------------|--------------------------------------------------------------------------------------|
/// | ``shared``        | there is a default route, IPv4 or IPv6, through an interface that is up              |
/// | `init(domain:)`   | the name resolves, and the kernel has a route to one of its addresses                |
/// | `init(address:)`  | the kernel has a route to it through an interface that is up, or it is local         |
///
/// ``status`` is ``NetworkReachabilityStatus/unknown`` until monitoring begins, with ``startMonitoring()`` or by
/// reading ``statuses``. The first value is known when `startMonitoring()` returns or, for a domain, when the name
/// has been looked up. Every member can be used from any thread. A manager stops when it is released.
public final class NetworkReachabilityManager: Sendable {
    /// The key of the status in the `userInfo` of ``Foundation/NSNotification/Name/reachabilityDidChange``.
    public static let statusUserInfoKey = "status"

    /// The shared manager, which monitors the default routes.
    public static let shared = NetworkReachabilityManager()

    let target: ReachabilityTarget
    let environment: ReachabilityEnvironment
    let state = Locked(ReachabilityState())
    let routeMembership = RouteMonitor.Membership()

    /// Creates a manager that monitors the default routes.
    public convenience init() {
        self.init(.internet)
    }

    /// Creates a manager that monitors a host.
    ///
    /// The name is looked up when monitoring begins, and again when the routes change. A name that does not exist
    /// is not reachable. If the lookup fails temporarily, the previous addresses are used; without any, the host is
    /// not reachable. The lookup is then repeated after 0.5, 2 and 8 seconds.
    /// - Parameter domain: a name such as `example.com`, or an address.
    public convenience init(domain: String) {
        self.init(.host(domain))
    }

    /// Creates a manager that monitors an address; `nil` if the text is not an address.
    /// - Parameter address: `192.0.2.1`, `2001:db8::1`, or with an interface `fe80::1%eth0`.
    public convenience init?(address: String) {
        guard let target = ReachabilityTarget(address: address) else { return nil }
        self.init(target)
    }

    init(_ target: ReachabilityTarget, in environment: ReachabilityEnvironment = .system) {
        self.target = target
        self.environment = environment
    }

    deinit {
        environment.monitor.leave(routeMembership)
    }

    // MARK: - Status

    /// The newest status. It no longer changes after ``stopMonitoring()``.
    public var status: NetworkReachabilityStatus { state.withLock { $0.status } }

    /// Whether there is a route. `false` while the status is unknown.
    public var isReachable: Bool { status.isReachable }

    /// Whether the only route is through a mobile network.
    public var isReachableViaWWAN: Bool { status == .reachableViaWWAN }

    /// Whether there is a route through another interface, including wired ones.
    public var isReachableViaWiFi: Bool { status == .reachableViaWiFi }

    /// The status in words, in English.
    public var localizedStatus: String { status.description }

    /// The error of the last ``startMonitoring()``: the process has no descriptors left, or is not
    /// allowed to query the kernel. `nil` if it succeeded.
    public var monitoringError: (any Error)? { state.withLock { $0.monitoringError } }

    // MARK: - Callbacks

    /// The queue of the closure and the notification; `nil` is the main queue. Read when a callback is due.
    public var completionQueue: DispatchQueue? {
        get { state.withLock { $0.completionQueue } }
        set { state.change { $0.completionQueue = newValue } }
    }

    /// Sets a closure that is called with the first status after each ``startMonitoring()`` and with each new
    /// status, before the notification. ``status`` may be newer by then. It is called on ``completionQueue``, or on
    /// the main queue if it is written in main-actor code. A queue that falls behind receives only the newest
    /// status.
    ///
    /// The closure is retained until another one is set. If it captures the manager, it retains the manager.
    public func setStatusChange(
        @_inheritActorContext _ block: (@isolated(any) @Sendable (NetworkReachabilityStatus) -> Void)?
    ) {
        state.change { $0.statusChange = block }
    }

    // MARK: - Commands

    /// Starts monitoring, or starts it again: the closure is called and the notification posted at least once.
    public func startMonitoring() {
        state.withLock { $0.start() }
        monitor()
    }

    /// Stops monitoring. A callback that is already running completes; no other follows.
    public func stopMonitoring() {
        state.withLock { $0.stop() }
        leaveMonitor()
    }

    // MARK: - Helpers

    /// Subscribes to the routes, and finds the first status before it returns.
    func monitor() {
        do {
            try environment.monitor.join(self)
            state.change { $0.monitoringError = nil }
        } catch {
            state.change { $0.monitoringError = error }
        }
    }

    /// Unsubscribes from the routes, unless something still monitors. Returns at once.
    func leaveMonitor() {
        environment.monitor.reconsider(self)
    }

    private func find(_ status: NetworkReachabilityStatus) {
        let isToSchedule = state.withLock { $0.find(status) }
        if isToSchedule { scheduleDelivery() }
    }

    /// Captures the manager weakly: a main queue that never runs would retain it forever.
    private func scheduleDelivery() {
        (completionQueue ?? .main).async { [weak self] in self?.deliver() }
    }

    private func deliver() {
        let (status, block, turn) = state.withLock { ($0.pending.take(), $0.statusChange, $0.turn) }
        guard let status, let block else { return conclude(status, turn) }
        let call = Callback(in: block.isolation) { [weak self] in
            // The manager may have been stopped or released meanwhile.
            if self?.state.withLock({ $0.turn == turn }) == true {
                callAssumingIsolation(of: block, status)
            }
        }
        guard let elsewhere = call.callHere() else { return conclude(status, turn) }
        elsewhere.call { [weak self] in
            guard let self else { return }
            (completionQueue ?? .main).async { [weak self] in self?.conclude(status, turn) }
        }
    }

    /// Posts the notification, on the completion queue, after the closure was called.
    private func conclude(_ status: NetworkReachabilityStatus?, _ turn: Int) {
        if let status, state.withLock({ $0.turn == turn }) {
            NotificationCenter.default.post(
                name: .reachabilityDidChange,
                object: self,
                userInfo: [Self.statusUserInfoKey: status]
            )
        }
        let hasMore = state.withLock { $0.pending.hasMore() }
        if hasMore { scheduleDelivery() }
    }

    /// Updates the status. Called on the monitor's queue.
    private func update(from routes: RouteMonitor.Routes) {
        guard target != .internet else { return find(routes.table.status) }
        let known = state.withLock { $0.lookup.addresses }
        guard let destinations = target.destinations(in: routes.table, known: known) else { return }
        let statuses = destinations.compactMap { routes.status(of: $0) }
        // If the kernel could not be asked, the status stays.
        guard destinations.isEmpty || !statuses.isEmpty else { return }
        find(statuses.max { $0.rawValue < $1.rawValue } ?? .notReachable)
    }

    // MARK: - Names

    private func lookUp(_ event: (inout NameLookup) -> NameLookup.Effect) {
        guard case .host(let name) = target else { return }
        switch state.withLock({ event(&$0.lookup) }) {
        case .none:
            break
        case .look(let turn):
            environment.lookUp(name) { [weak self] answer in
                guard let self else { return }
                lookUp { $0.end(answer, turn: turn) }
                environment.monitor.withRoutes(for: routeMembership) { [weak self] in self?.update(from: $0) }
            }
        case .wait(let seconds, let turn):
            environment.wait(seconds) { [weak self] in self?.lookUp { $0.wake(turn: turn) } }
        }
    }
}

// MARK: - Membership in the route monitor

extension NetworkReachabilityManager {
    var isMonitoring: Bool { state.withLock { $0.isMonitoring } }

    /// Called on the monitor's queue when the manager becomes a member, and after each change.
    func routesDidChange(_ routes: RouteMonitor.Routes) {
        update(from: routes)
        lookUp { $0.ask() }
    }
}

/// The destination whose route a manager monitors.
enum ReachabilityTarget: Hashable, Sendable {
    /// The default routes.
    case internet
    /// A name, which is looked up.
    case host(String)
    /// An address, with the zone that names the interface of a link-local one (RFC 4007 §11).
    case address(InternetAddress, zone: String?)

    /// `nil` if the text is not an address.
    init?(address text: String) {
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first.flatMap({ InternetAddress(String($0)) }) else { return nil }
        let zone = parts.count > 1 ? String(parts[1]) : nil
        // Only IPv6 addresses have zones.
        guard zone == nil || (address.octets.count == 16 && zone?.isEmpty == false) else { return nil }
        self = .address(address, zone: zone)
    }

    /// The destinations among these interfaces. Empty if there are none at present.
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

/// What a manager needs of the system: routes, name lookups and timers. Tests have their own.
struct ReachabilityEnvironment: Sendable {
    /// Looks a name up, and passes the result on, on any thread.
    typealias LookUp = @Sendable (_ name: String, _ answer: @escaping @Sendable (HostLookup) -> Void) -> Void

    /// Calls a closure after some seconds, on any thread.
    typealias Wait = @Sendable (_ seconds: TimeInterval, _ body: @escaping @Sendable () -> Void) -> Void

    var monitor: RouteMonitor
    var lookUp: LookUp
    var wait: Wait

    /// Concurrent, because a lookup may block for as long as the servers take.
    private static let names = DispatchQueue(label: "OperationNetworking.names", attributes: .concurrent)

    static let system = ReachabilityEnvironment(
        monitor: .shared,
        lookUp: { name, answer in names.async { answer(HostLookup(host: name)) } },
        wait: { seconds, body in names.asyncAfter(deadline: .now() + seconds, execute: body) }
    )
}

extension NetworkReachabilityManager: NetworkWaiting {
    /// Waits until the target is reachable, monitoring until then. Returns at once if monitoring fails, and when
    /// the task is cancelled. For a domain a default route is enough, because routes do not show when its name can
    /// be looked up again.
    /// - Returns: whether the target was not reachable when this was called.
    public func waitForNetwork() async -> Bool {
        guard case .host = target else { return await waitForStatus() }
        let internet = NetworkReachabilityManager(.internet, in: environment)
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask { await self.waitForStatus() }
            group.addTask { await internet.waitForStatus() }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }

    private func waitForStatus() async -> Bool {
        var hasWaited = false
        for await status in statuses {
            if status.isReachable || monitoringError != nil { break }
            if status == .notReachable { hasWaited = true }
        }
        return hasWaited
    }
}
