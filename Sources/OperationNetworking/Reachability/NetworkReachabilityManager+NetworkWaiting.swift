extension NetworkReachabilityManager: NetworkWaiting {
    /// Returns when it is reachable, or the task is cancelled; at once where it cannot be monitored. Monitors
    /// meanwhile.
    /// - Returns: whether it was not reachable when it was called.
    public func waitForNetwork() async -> Bool {
        var hasWaited = false
        for await status in statuses {
            if status.isReachable || (status == .unknown && monitoringError != nil) { break }
            if status == .notReachable { hasWaited = true }
        }
        return hasWaited
    }
}
