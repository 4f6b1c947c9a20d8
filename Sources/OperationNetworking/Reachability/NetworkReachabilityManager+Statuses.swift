public import Foundation
internal import OperationNetworkingSystem

extension Notification.Name {
    /// Posted when a ``NetworkReachabilityManager`` has a new status, or its first one after a start. The object
    /// is the manager; the status is in the `userInfo`, under ``NetworkReachabilityManager/statusUserInfoKey``.
    public static let reachabilityDidChange = Notification.Name("OperationNetworking.reachability.change")
}

extension NetworkReachabilityManager {
    /// The statuses of a manager, which the sequence retains: see ``NetworkReachabilityManager/statuses``.
    public struct Statuses: AsyncSequence, Sendable {
        /// The element is a status.
        public typealias Element = NetworkReachabilityStatus

        private let manager: NetworkReachabilityManager

        fileprivate init(_ manager: NetworkReachabilityManager) {
            self.manager = manager
        }

        /// Starts monitoring, unless the manager is already monitoring.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(manager)
        }

        /// An iterator, which monitors until it is released.
        public struct AsyncIterator: AsyncIteratorProtocol {
            private let manager: NetworkReachabilityManager
            private var stream: AsyncStream<NetworkReachabilityStatus>.Iterator

            fileprivate init(_ manager: NetworkReachabilityManager) {
                self.manager = manager
                stream = manager.makeStream().makeAsyncIterator()
            }

            /// Returns the current status first, and then waits for each new one; `nil` if the task was
            /// cancelled.
            public mutating func next() async -> NetworkReachabilityStatus? {
                await stream.next()
            }
        }
    }

    /// The current status, then each new one. The sequence never ends. A task that falls behind receives only
    /// the newest status.
    ///
    /// Iterating starts monitoring, even without ``startMonitoring()``. Several tasks can iterate; each receives
    /// every status.
    public var statuses: Statuses { Statuses(self) }

    private func makeStream() -> AsyncStream<NetworkReachabilityStatus> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: NetworkReachabilityStatus.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let number = state.withLock { $0.begin(continuation) }
        continuation.onTermination = { [weak self] _ in self?.endStream(number) }
        monitor()
        state.withLock { $0.deliverFirstStatus(to: number) }
        return stream
    }

    private func endStream(_ number: Int) {
        let ended = state.withLock { $0.end(number) }
        withExtendedLifetime(ended) {}
        leaveMonitor()
    }
}
