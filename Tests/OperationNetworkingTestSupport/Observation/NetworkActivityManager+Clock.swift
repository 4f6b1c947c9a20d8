import Foundation

@testable import OperationNetworking

extension NetworkActivityManager {
    /// One whose delays end when the test says so.
    ///
    /// - Parameter wait: called with the seconds of a delay, and with what to call at its end.
    static func onClock(
        _ wait: @escaping @Sendable (_ seconds: TimeInterval, _ end: @escaping @Sendable () -> Void) -> Void
    ) -> NetworkActivityManager {
        NetworkActivityManager(wait: wait)
    }
}
