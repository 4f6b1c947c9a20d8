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
