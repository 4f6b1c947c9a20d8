public import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// Monitors whether a route exists: to the internet, to a host, or to an address.
///
/// ```swift
/// let reachability = NetworkReachabilityManager.shared
/// reachability.setStatusChange { status in queue.isSuspended = !status.isReachable }
/// reachability.startMonitoring()
/// ```
///
/// The kernel reports changes (rtnetlink); nothing is polled and nothing is sent. A route does not guarantee
/// a response: the server may be down, and without a route it may be reachable through a proxy. So do not
/// check the status before a request. Send it, and use the status to decide when to retry.
///
/// | Manager           | Reachable when                                                                       |
/// |-------------------|--------------------------------------------------------------------------------------|
/// | ``shared``        | a default route of IPv4 or IPv6 uses an interface that is up                         |
/// | `init(domain:)`   | the name exists, and the kernel has a route to one of its addresses                  |
/// | `init(address:)`  | the kernel has a route to it through an interface that is up (or it is this machine's) |
///
/// ``status`` is ``NetworkReachabilityStatus/unknown`` until it is monitored: after ``startMonitoring()``,
/// and while ``statuses`` is iterated. The first status is known when `startMonitoring()` returns or, for a
/// domain, when its name has been looked up. Everything may be called from any thread. A manager stops when
/// it is released.
public final class NetworkReachabilityManager: Sendable {
    /// The key of the status in the `userInfo` of ``Foundation/NSNotification/Name/reachabilityDidChange``.
    public static let statusUserInfoKey = "status"

    /// The shared manager of the default routes.
    public static let shared = NetworkReachabilityManager()

    let target: ReachabilityTarget
    let environment: ReachabilityEnvironment
    let state = Locked(ReachabilityState())
    let routeMembership = RouteMonitor.Membership()

    /// Creates another manager of the default routes, which has its own closure.
    public convenience init() {
        self.init(.internet)
    }

    /// Creates a manager of a host.
    ///
    /// The name is looked up when monitoring begins and when routes change. A name that does not exist is not
    /// reachable. If a lookup fails temporarily, the earlier addresses are kept; without any, the host is not
    /// reachable, and the name is looked up again after 0.5, 2 and 8 seconds.
    /// - Parameter domain: a name such as `example.com`, or an address.
    public convenience init(domain: String) {
        self.init(.host(domain))
    }

    /// Creates a manager of an address. Fails if the text is not an address.
    /// - Parameter address: an address such as `192.0.2.1` or `2001:db8::1`, or one with an interface,
    ///   `fe80::1%eth0`.
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

    /// The latest status. It does not change after ``stopMonitoring()``.
    public var status: NetworkReachabilityStatus { state.withLock { $0.status } }

    /// Whether a route exists. `false` while that is unknown.
    public var isReachable: Bool { status.isReachable }

    /// Whether routes exist through mobile networks only.
    public var isReachableViaWWAN: Bool { status == .reachableViaWWAN }

    /// Whether a route exists through another interface, including wired ones.
    public var isReachableViaWiFi: Bool { status == .reachableViaWiFi }

    /// The status in words. In English, like every text of this library.
    public var localizedStatus: String { status.description }

    /// The error that prevents monitoring: the process has no file descriptors left, or is not allowed to
    /// read the kernel's routes. `nil` if the last ``startMonitoring()`` succeeded.
    public var monitoringError: (any Error)? { state.withLock { $0.monitoringError } }

    // MARK: - Observing

    /// The queue of the closure and the notification. Defaults to `nil`, the main queue. Read before each
    /// delivery.
    public var completionQueue: DispatchQueue? {
        get { state.withLock { $0.completionQueue } }
        set { state.change { $0.completionQueue = newValue } }
    }

    /// Sets a closure that is called on ``completionQueue``, before the notification, with the first status
    /// after each ``startMonitoring()`` and with every new status. ``status`` is that status or a newer one
    /// by then. A queue that does not keep up receives only the newest status. A closure from main-actor code
    /// is called on the main queue.
    ///
    /// The closure is retained until another one is set. If it captures the manager, it retains the manager.
    public func setStatusChange(
        @_inheritActorContext _ block: (@isolated(any) @Sendable (NetworkReachabilityStatus) -> Void)?
    ) {
        state.change { $0.statusChange = block }
    }

    // MARK: - Commands

    /// Starts or restarts monitoring. The closure is called and the notification posted at least once.
    public func startMonitoring() {
        state.withLock { $0.start() }
        monitor()
    }

    /// Stops monitoring. Except for a call in progress, the closure is not called and no notification is
    /// posted after that.
    public func stopMonitoring() {
        state.withLock { $0.stop() }
        stopMonitoringIfUnused()
    }

    // MARK: - Helpers

    /// Starts observing routes, and determines the first status before it returns.
    func monitor() {
        do {
            try environment.monitor.join(self)
            state.change { $0.monitoringError = nil }
        } catch {
            state.change { $0.monitoringError = error }
        }
    }

    /// Stops observing routes unless something still needs them. Returns at once.
    func stopMonitoringIfUnused() {
        environment.monitor.leaveIfUnused(self)
    }

    private func find(_ status: NetworkReachabilityStatus) {
        let isToSchedule = state.withLock { $0.find(status) }
        if isToSchedule { scheduleDelivery() }
    }

    /// The closure does not retain the manager: a main queue that never runs would keep it alive forever.
    private func scheduleDelivery() {
        (completionQueue ?? .main).async { [weak self] in self?.deliver() }
    }

    private func deliver() {
        let (status, block, turn) = state.withLock { ($0.news.take(), $0.statusChange, $0.turn) }
        guard let status, let block else { return conclude(status, turn) }
        let call = Callback(in: block.isolation) { [weak self] in
            // The manager may have been stopped or released since this was scheduled.
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

    /// Called on the completion queue, after the closure.
    private func conclude(_ status: NetworkReachabilityStatus?, _ turn: Int) {
        if let status, state.withLock({ $0.turn == turn }) {
            NotificationCenter.default.post(
                name: .reachabilityDidChange,
                object: self,
                userInfo: [Self.statusUserInfoKey: status]
            )
        }
        let hasMore = state.withLock { $0.news.hasMore() }
        if hasMore { scheduleDelivery() }
    }

    /// Determines the status again. Called on the monitor's queue.
    private func look(at routes: RouteMonitor.Routes) {
        guard target != .internet else { return find(routes.table.status) }
        let known = state.withLock { $0.lookup.addresses }
        guard let destinations = target.destinations(in: routes.table, known: known) else { return }
        let statuses = destinations.compactMap { routes.status(of: $0) }
        // Without an answer from the kernel, the status does not change.
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
            environment.look(name) { [weak self] answer in
                guard let self else { return }
                lookUp { $0.end(answer, turn: turn) }
                environment.monitor.lend(to: routeMembership) { [weak self] in self?.look(at: $0) }
            }
        case .wait(let seconds, let turn):
            environment.wait(seconds) { [weak self] in self?.lookUp { $0.wake(turn: turn) } }
        }
    }
}

// MARK: - Membership in the route monitor

extension NetworkReachabilityManager {
    /// Whether the monitor has to report changes.
    var wantsRoutes: Bool { state.withLock { $0.isMonitoring } }

    /// Called on the monitor's queue when the manager becomes a member, and after each change.
    func routesDidChange(_ routes: RouteMonitor.Routes) {
        look(at: routes)
        lookUp { $0.ask() }
    }
}

/// The destination of the route that a manager monitors.
enum ReachabilityTarget: Hashable, Sendable {
    /// Any destination of the default routes.
    case internet
    /// A name, which is looked up.
    case host(String)
    /// An address. A zone names the interface of a link-local one (RFC 4007 §11).
    case address(InternetAddress, zone: String?)

    /// Fails if the text is not an address.
    init?(address text: String) {
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first.flatMap({ InternetAddress(String($0)) }) else { return nil }
        let zone = parts.count > 1 ? String(parts[1]) : nil
        // Only IPv6 addresses have zones.
        guard zone == nil || (address.octets.count == 16 && zone?.isEmpty == false) else { return nil }
        self = .address(address, zone: zone)
    }

    /// The current destinations. Empty if none exist; `nil` if they are unknown.
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

/// The services that a manager uses, which tests replace.
struct ReachabilityEnvironment: Sendable {
    /// Looks up a name, and calls `answer` on any thread.
    typealias Look = @Sendable (_ name: String, _ answer: @escaping @Sendable (HostLookup) -> Void) -> Void

    /// Calls a closure after some seconds, on any thread.
    typealias Wait = @Sendable (_ seconds: TimeInterval, _ body: @escaping @Sendable () -> Void) -> Void

    var monitor: RouteMonitor
    var look: Look
    var wait: Wait

    /// Concurrent, because a lookup takes as long as the servers do.
    private static let names = DispatchQueue(label: "OperationNetworking.names", attributes: .concurrent)

    static let system = ReachabilityEnvironment(
        monitor: .shared,
        look: { name, answer in names.async { answer(HostLookup(host: name)) } },
        wait: { seconds, body in names.asyncAfter(deadline: .now() + seconds, execute: body) }
    )
}

extension NetworkReachabilityManager: NetworkWaiting {
    /// Returns when a route exists, or when the task is cancelled; returns at once if monitoring fails.
    /// Monitors in the meantime. For a domain, a default route is enough: a change of routes does not mean
    /// that its name can be looked up again.
    /// - Returns: whether no route existed at the time of the call.
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
