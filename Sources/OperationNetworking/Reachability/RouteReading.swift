import Dispatch
internal import OperationNetworkingSystem

/// The kernel's routing, or another one in tests. Used on one thread at a time, never on the network thread.
protocol RouteReading: AnyObject {
    /// Has `wake` called on `queue`, until ``close()``, when the kernel tells of a change.
    func open(on queue: DispatchQueue, wake: @escaping @Sendable () -> Void) throws

    /// Whether something changed since the last call that may matter.
    func takeChanges() -> Bool

    /// Interfaces and default routes now.
    func table() throws -> RouteTable

    /// The route that a packet to `destination` would take; `nil`: none, or one that refuses it.
    func route(to destination: RouteDestination) throws -> NetworkRoute?

    func close()
}
