import Dispatch
import Foundation
import OperationNetworkingSystem
import OperationNetworkingTesting

@testable import OperationNetworking

/// A kernel whose routes are what a test says.
final class ScriptedRoutes: RouteReading, Sendable {
    private struct State {
        var table: RouteTable
        var routes: [RouteDestination: NetworkRoute] = [:]
        var hasChanged = false
        var failure: SystemError?
        var wake: (@Sendable () -> Void)?
        var queue: DispatchQueue?
    }

    private let state: Locked<State>

    static let down = RouteTable()
    static let up = RouteTable(
        interfaces: [2: .init(index: 2, name: "eth0")],
        defaultRoutes: [NetworkRoute(family: .ipv4, hops: [.init(interface: 2)])]
    )
    static let mobile = RouteTable(
        interfaces: [2: .init(index: 2, name: "wwan0", isWWAN: true)],
        defaultRoutes: [NetworkRoute(family: .ipv4, hops: [.init(interface: 2)])]
    )

    init(_ table: RouteTable = down) {
        state = Locked(State(table: table))
    }

    /// Whether a monitor has it open.
    var isOpen: Bool { state.withLock { $0.wake != nil } }

    /// Has the kernel change its mind.
    func become(_ table: RouteTable, routes: [RouteDestination: NetworkRoute] = [:]) {
        let (queue, wake) = state.withLock { state in
            (state.table, state.routes, state.hasChanged) = (table, routes, true)
            return (state.queue, state.wake)
        }
        if let wake { queue?.async(execute: wake) }
    }

    /// Has the kernel say something that is of no importance.
    func murmur() {
        let (queue, wake) = state.withLock { ($0.queue, $0.wake) }
        if let wake { queue?.async(execute: wake) }
    }

    func fail(_ failure: SystemError?) {
        state.withLock { $0.failure = failure }
    }

    // MARK: - RouteReading

    func open(on queue: DispatchQueue, wake: @escaping @Sendable () -> Void) throws {
        try state.withLock { state in
            if let failure = state.failure { throw failure }
            (state.queue, state.wake) = (queue, wake)
        }
    }

    func takeChanges() -> Bool {
        state.withLock { state in
            defer { state.hasChanged = false }
            return state.hasChanged
        }
    }

    func table() throws -> RouteTable {
        try state.withLock { state in
            if let failure = state.failure { throw failure }
            return state.table
        }
    }

    func route(to destination: RouteDestination) throws -> NetworkRoute? {
        try state.withLock { state in
            if let failure = state.failure { throw failure }
            return state.routes[destination]
        }
    }

    func close() {
        state.change { ($0.queue, $0.wake) = (nil, nil) }
    }
}

/// A kernel, a resolver and a clock for managers, all of a test's.
struct ReachabilityScene {
    /// A question that waits for its answer.
    struct Question: Sendable {
        let name: String
        let answer: @Sendable (HostLookup) -> Void
    }

    /// A wait that ends when the test says so.
    struct Wait: Sendable {
        let seconds: TimeInterval
        let end: @Sendable () -> Void
    }

    let routes: ScriptedRoutes
    let monitor: RouteMonitor
    let questions = Recorder<Question>()
    let waits = Recorder<Wait>()
    /// The waits of the monitor for another try to read the routes.
    let retries = Recorder<Wait>()
    /// The queue of closures and notifications.
    let callbacks = DispatchQueue(label: "callbacks")

    init(_ table: RouteTable = ScriptedRoutes.down) {
        routes = ScriptedRoutes(table)
        monitor = RouteMonitor(routes) { [retries] seconds, end in
            retries.append(Wait(seconds: seconds, end: end))
        }
    }

    /// Whether changes of the routes are listened to.
    var isMonitoring: Bool { monitor.isOpen }

    func manager(ofHost name: String) -> NetworkReachabilityManager { manager(.host(name)) }

    func manager(ofAddress address: String) -> NetworkReachabilityManager? {
        ReachabilityTarget(address: address).map { manager($0) }
    }

    func manager(_ target: ReachabilityTarget = .internet) -> NetworkReachabilityManager {
        let environment = ReachabilityEnvironment(
            monitor: monitor,
            lookUp: { [questions] name, answer in questions.append(Question(name: name, answer: answer)) },
            wait: { [waits] seconds, end in waits.append(Wait(seconds: seconds, end: end)) }
        )
        let manager = NetworkReachabilityManager(target, in: environment)
        manager.completionQueue = callbacks
        return manager
    }
}
