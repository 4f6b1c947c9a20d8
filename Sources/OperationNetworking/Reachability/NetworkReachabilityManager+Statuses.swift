public import Foundation
internal import OperationNetworkingSystem

extension Notification.Name {
    /// Posted when a ``NetworkReachabilityManager`` has a new status, and for its first status after a start.
    /// The object is the manager. The `userInfo` contains the status under
    /// ``NetworkReachabilityManager/statusUserInfoKey``.
    public static let reachabilityDidChange = Notification.Name("OperationNetworking.reachability.change")
}

extension NetworkReachabilityManager {
    /// The statuses of a manager: see ``NetworkReachabilityManager/statuses``. The sequence retains the
    /// manager.
    public struct Statuses: AsyncSequence, Sendable {
        /// The element is a status.
        public typealias Element = NetworkReachabilityStatus

        private let manager: NetworkReachabilityManager

        fileprivate init(_ manager: NetworkReachabilityManager) {
            self.manager = manager
        }

        /// Starts monitoring, unless the manager does already.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(manager)
        }

        /// An iterator that monitors until it is released.
        public struct AsyncIterator: AsyncIteratorProtocol {
            private let manager: NetworkReachabilityManager
            private var stream: AsyncStream<NetworkReachabilityStatus>.Iterator

            fileprivate init(_ manager: NetworkReachabilityManager) {
                self.manager = manager
                stream = manager.makeStream().makeAsyncIterator()
            }

            /// Returns the first status at once, and then waits for each new one. Returns `nil` if the task
            /// is cancelled.
            public mutating func next() async -> NetworkReachabilityStatus? {
                await stream.next()
            }
        }
    }

    /// The current status at once, then every new one, without an end. A task that does not keep up receives
    /// only the newest.
    ///
    /// Iterating monitors even without ``startMonitoring()``. Each `for await` loop receives every status.
    public var statuses: Statuses { Statuses(self) }

    private func makeStream() -> AsyncStream<NetworkReachabilityStatus> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: NetworkReachabilityStatus.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let number = state.withLock { $0.begin(continuation) }
        continuation.onTermination = { [weak self] _ in self?.endStream(number) }
        monitor()
        state.withLock { $0.sendFirstStatus(to: number) }
        return stream
    }

    private func endStream(_ number: Int) {
        let ended = state.withLock { $0.end(number) }
        withExtendedLifetime(ended) {}
        stopMonitoringIfUnused()
    }
}
