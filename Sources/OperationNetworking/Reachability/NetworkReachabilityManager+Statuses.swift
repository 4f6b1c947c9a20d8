public import Foundation
internal import OperationNetworkingSystem

extension Notification.Name {
    /// A ``NetworkReachabilityManager`` has a new status, or its first one after a start. The object is the
    /// manager; the status is in the `userInfo`, under ``NetworkReachabilityManager/statusUserInfoKey``.
    public static let reachabilityDidChange = Notification.Name("OperationNetworking.reachability.change")
}

extension NetworkReachabilityManager {
    /// The statuses of a manager, which it keeps: see ``NetworkReachabilityManager/statuses``.
    public struct Statuses: AsyncSequence, Sendable {
        /// A status.
        public typealias Element = NetworkReachabilityStatus

        private let manager: NetworkReachabilityManager

        fileprivate init(_ manager: NetworkReachabilityManager) {
            self.manager = manager
        }

        /// Begins to monitor, if the manager does not yet.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(manager)
        }

        /// Monitors until it is released.
        public struct AsyncIterator: AsyncIteratorProtocol {
            private let manager: NetworkReachabilityManager
            private var stream: AsyncStream<NetworkReachabilityStatus>.Iterator

            fileprivate init(_ manager: NetworkReachabilityManager) {
                self.manager = manager
                stream = manager.makeStream().makeAsyncIterator()
            }

            /// The first status at once; then waits for a new one. `nil`: the task was cancelled.
            public mutating func next() async -> NetworkReachabilityStatus? {
                await stream.next()
            }
        }
    }

    /// The statuses: the one of now at once, then each new one, without an end. A task that does not keep up
    /// gets the newest only.
    ///
    /// Reading them monitors, also without ``startMonitoring()``; each `for await` gets all of them.
    public var statuses: Statuses { Statuses(self) }

    private func makeStream() -> AsyncStream<NetworkReachabilityStatus> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: NetworkReachabilityStatus.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let number = state.withLock { $0.begin(continuation) }
        continuation.onTermination = { [weak self] _ in self?.endStream(number) }
        monitor()
        state.withLock { $0.greet(number) }
        return stream
    }

    private func endStream(_ number: Int) {
        let ended = state.withLock { $0.end(number) }
        withExtendedLifetime(ended) {}
        monitorNoMore()
    }
}
