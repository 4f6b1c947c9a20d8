public import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// Tells whether there is a route: to the internet, to a host, or to an address.
///
/// ```swift
/// let reachability = NetworkReachabilityManager.shared
/// reachability.setStatusChange { status in queue.isSuspended = !status.isReachable }
/// reachability.startMonitoring()
/// ```
///
/// The kernel tells of changes (rtnetlink); nothing is asked for at intervals, and nothing is sent. A route
/// is no answer: a server behind it may be down, and one without it may be reached through a proxy. So do not
/// ask before a request whether it may be sent: send it, and use the status to decide when to try again.
///
/// | Manager           | Reachable when                                                                       |
/// |-------------------|--------------------------------------------------------------------------------------|
/// | ``shared``        | a default route, of IPv4 or IPv6, leaves by an interface that is up                  |
/// | `init(domain:)`   | the name is known, and the kernel has a route to one of its addresses                |
/// | `init(address:)`  | the kernel has a route to it, by an interface that is up; this machine's own are     |
///
/// ``status`` is ``NetworkReachabilityStatus/unknown`` until it is monitored: from ``startMonitoring()`` on,
/// and while ``statuses`` is read. It has the first value when `startMonitoring()` returns; for a domain when
/// the name was looked up. Everything may be called from any thread. A manager that is released stops.
public final class NetworkReachabilityManager: Sendable {
    /// The key of the status in the `userInfo` of ``Foundation/NSNotification/Name/reachabilityDidChange``.
    public static let statusUserInfoKey = "status"

    /// The manager of the internet: of the default routes.
    public static let shared = NetworkReachabilityManager()

    let target: ReachabilityTarget
    let environment: ReachabilityEnvironment
    let state = Locked(ReachabilityState())
    let routeMembership = RouteMonitor.Membership()

    /// Another manager of the default routes, with a closure of its own.
    public convenience init() {
        self.init(.internet)
    }

    /// A manager of a host.
    ///
    /// Its name is looked up when monitoring begins, and again when routes change. One that does not exist is
    /// not reachable. One that cannot be looked up now keeps the addresses from before; without any it is not
    /// reachable, and is looked up again within 0.5, 2 and 8 seconds.
    /// - Parameter domain: a name such as `example.com`, or an address.
    public convenience init(domain: String) {
        self.init(.host(domain))
    }

    /// A manager of an address; `nil` for a text that is none.
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

    /// The newest status. After ``stopMonitoring()`` it stays as it is.
    public var status: NetworkReachabilityStatus { state.withLock { $0.status } }

    /// Whether there is a route. `false` while that is unknown.
    public var isReachable: Bool { status.isReachable }

    /// Whether there is one by a mobile network only.
    public var isReachableViaWWAN: Bool { status == .reachableViaWWAN }

    /// Whether there is one by something else, a cable included.
    public var isReachableViaWiFi: Bool { status == .reachableViaWiFi }

    /// The status in words; English, as everywhere in this library.
    public var localizedStatus: String { status.description }

    /// Why it cannot be monitored: the process has no descriptors left, or may not ask the kernel. `nil` when
    /// the last ``startMonitoring()`` succeeded.
    public var monitoringError: (any Error)? { state.withLock { $0.monitoringError } }

    // MARK: - Hearing

    /// The queue of closure and notification; `nil`: the main queue. Read when one is due.
    public var completionQueue: DispatchQueue? {
        get { state.withLock { $0.completionQueue } }
        set { state.change { $0.completionQueue = newValue } }
    }

    /// Sets a closure that is called on ``completionQueue``, before the notification, with the first status
    /// after each ``startMonitoring()`` and with each new status; by then ``status`` is that status, or a
    /// newer one. A queue that does not keep up gets the newest status only. A closure that is written in
    /// main-actor code is called on the main queue.
    ///
    /// The closure is kept until another one is set; if it refers to the manager, it keeps the manager.
    public func setStatusChange(
        @_inheritActorContext _ block: (@isolated(any) @Sendable (NetworkReachabilityStatus) -> Void)?
    ) {
        state.change { $0.statusChange = block }
    }

    // MARK: - Commands

    /// Begins to monitor, or begins again: the closure and the notification come at least once.
    public func startMonitoring() {
        state.withLock { $0.start() }
        monitor()
    }

    /// Ends it: closure and notification do not come any more, but for one that is running.
    public func stopMonitoring() {
        state.withLock { $0.stop() }
        monitorNoMore()
    }

    // MARK: - Helpers

    /// Hears of routes from now on, and finds the first status before it returns.
    func monitor() {
        do {
            try environment.monitor.join(self)
            state.change { $0.monitoringError = nil }
        } catch {
            state.change { $0.monitoringError = error }
        }
    }

    /// Hears of routes only if that is still wished. Returns at once.
    func monitorNoMore() {
        environment.monitor.reconsider(self)
    }

    private func find(_ status: NetworkReachabilityStatus) {
        let isToSchedule = state.withLock { $0.find(status) }
        if isToSchedule { scheduleDelivery() }
    }

    /// Does not keep the manager: a main queue that never runs would keep it for ever.
    private func scheduleDelivery() {
        (completionQueue ?? .main).async { [weak self] in self?.deliver() }
    }

    private func deliver() {
        let (status, block, turn) = state.withLock { ($0.news.take(), $0.statusChange, $0.turn) }
        guard let status, let block else { return conclude(status, turn) }
        let call = Callback(in: block.isolation) { [weak self] in
            // It may have been stopped, or released, while this was on its way.
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

    /// On the completion queue; the closure has been called.
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

    /// Finds the status anew. On the monitor's queue.
    private func look(at routes: RouteMonitor.Routes) {
        guard target != .internet else { return find(routes.table.status) }
        let known = state.withLock { $0.lookup.addresses }
        guard let destinations = target.destinations(in: routes.table, known: known) else { return }
        let statuses = destinations.compactMap { routes.status(of: $0) }
        // Where the kernel could not be asked, the status stays.
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

// MARK: - A member of the route monitor

extension NetworkReachabilityManager {
    /// Whether it is to be told of changes.
    var wantsRoutes: Bool { state.withLock { $0.isMonitoring } }

    /// Called on the monitor's queue: when it becomes a member, and after each change.
    func routesDidChange(_ routes: RouteMonitor.Routes) {
        look(at: routes)
        lookUp { $0.ask() }
    }
}

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

extension NetworkReachabilityManager: NetworkWaiting {
    /// Returns when it is reachable, or the task is cancelled; at once where it cannot be monitored. Monitors
    /// meanwhile. Of a domain a default route is enough: routes do not tell when its name is found again.
    /// - Returns: whether it was not reachable when it was called.
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
