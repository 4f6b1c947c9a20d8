import Foundation

@testable import OperationNetworking

extension NetworkActivityManager {
    /// One whose delays end when the test says so: `wait` receives the seconds of a delay, and what to call at
    /// its end.
    static func onClock(
        _ wait: @escaping @Sendable (_ seconds: TimeInterval, _ end: @escaping @Sendable () -> Void) -> Void
    ) -> NetworkActivityManager {
        NetworkActivityManager(wait: wait)
    }
}
