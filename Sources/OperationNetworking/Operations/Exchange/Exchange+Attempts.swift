import Dispatch
import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

// Attempts: whether and when the request is repeated.
extension Exchange {
    /// Waits if the server of the next transfer has requested a delay. Returns whether the transfer has to
    /// wait.
    func waitsForHost(_ network: NetworkContext) -> Bool {
        guard attempts.mayWait, let url = route.hopURL,
            let rest = network.hosts.remaining(for: host(of: url), now: now),
            let delay = attempts.wait(whileHostRests: rest, now: now)
        else { return false }
        // Out of date after the wait.
        cookies.forget()
        route.adapted = nil
        owner?.exchangeWillRetry(Retry(cause: .busyServer(url), delay: delay))
        wait(delay, because: url) { exchange, network in exchange.prepare(network) }
        return true
    }

    /// The seconds until another attempt; `nil` if the policy does not retry after this response.
    func retryDelay(after head: ResponseHead) -> TimeInterval? {
        noteRest(after: head)
        guard canSendAgain, !wantsOnlyStored, let url = route.hopURL, let response = head.response(for: url),
            let delay = attempts.wait(after: head, to: configuration.request, now: now)
        else { return nil }
        owner?.exchangeWillRetry(Retry(cause: .response(response), delay: delay))
        return delay
    }

    /// The seconds until another attempt after an unusable response, which is treated as a 503. `head` is the
    /// head of the response, if there was one; it may contain `Retry-After`.
    func outageDelay(because error: any Error, after head: ResponseHead? = nil) -> TimeInterval? {
        guard canSendAgain, !wantsOnlyStored,
            let delay = attempts.wait(afterOutage: head?.fields, to: configuration.request, now: now)
        else { return nil }
        owner?.exchangeWillRetry(Retry(cause: .error(error), delay: delay))
        return delay
    }

    /// Requests the whole body because the kept bytes are unusable. That counts as another attempt, with its
    /// delay. Without retries it is done once, without delay; after that, the exchange fails.
    func requestWhole(because reason: RestartReason) -> ExchangeNext {
        let error = ResumeError.mustStartOver(reason)
        noteProgress()
        guard canSendAgain else { return .fail(error) }
        guard let delay = attempts.wait(beforeWholeOf: configuration.request, now: now) else {
            return attempts.mayRequestWhole() ? .again : .fail(error)
        }
        owner?.exchangeWillRetry(Retry(cause: .error(error), delay: delay))
        return .retry(after: delay)
    }

    private func noteProgress() {
        guard configuration.resumesByRange else { return }
        attempts.note(held: sink.count, progress: resumption.sensibleCount)
    }

    func retry(after error: any Error) {
        noteProgress()
        guard canSendAgain, let delay = attempts.wait(after: error, to: configuration.request, now: now)
        else {
            return fail(error)
        }
        owner?.exchangeWillRetry(Retry(cause: .error(error), delay: delay))
        if let wait = attempts.networkWait(now: now) {
            self.wait(wait, else: delay, error)
        } else {
            retry(after: delay)
        }
    }

    /// Waits for the network, or for `delay` if it was reachable. If the time runs out, the error is the
    /// result.
    private func wait(_ wait: Attempts.NetworkWait, else delay: TimeInterval, _ error: any Error) {
        owner?.exchangeLasts()
        sink.flush()
        let decide = waitWithoutSlot(.time(route.hopURL.map(host))) { exchange, hasWaited, _ in
            exchange.cancelPending = nil
            exchange.tick()
            exchange.retry(after: hasWaited ? wait.delay : delay)
        }
        let round = machine.round
        // Not on this thread: it may query the kernel.
        let task = Task.detached { decide(await wait.network.waitForNetwork()) }
        cancelPending = { task.cancel() }
        guard let limit = wait.limit else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + limit) { [weak self] in
            NetworkThread.shared.perform { [weak self] _ in
                guard let self, machine.endWait(in: round) else { return }
                cancelPending?()
                cancelPending = nil
                tick()
                fail(error)
            }
        }
    }

    private var canSendAgain: Bool {
        sink.failure == nil && route.canStartOver
    }

    /// Whether only the cache may answer, so that another attempt would get the same response.
    private var wantsOnlyStored: Bool {
        guard configuration.settings.layers[.cache] != nil else { return false }
        if route.hop.cachePolicy == .returnCacheDataDontLoad { return true }
        let directives = route.field("Cache-Control")?.split(separator: ",") ?? []
        return directives.contains { directive in
            directive.trimmingCharacters(in: .whitespaces).isEqualIgnoringASCIICase(to: "only-if-cached")
        }
    }

    func retry(after delay: TimeInterval) {
        wait(delay, because: route.hopURL) { exchange, network in exchange.startFromFirstHop(network) }
    }

    /// Waits, then calls `go`, unless the exchange is cancelled or paused before.
    private func wait(
        _ seconds: TimeInterval,
        because url: URL?,
        then go: @escaping @Sendable (Exchange, NetworkContext) -> Void
    ) {
        owner?.exchangeLasts()
        sink.flush()
        let end = waitWithoutSlot(.time(url.map(host))) { (exchange, _: Void, network) in
            go(exchange, network)
        }
        // The closure retains nothing: the wait may be ten minutes, and the operation may be released long
        // before.
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { end(()) }
    }

    /// Called inside a libcurl callback, so the update is posted to the network thread.
    private func noteRest(after head: ResponseHead) {
        guard let url = route.hopURL, let seconds = attempts.rest(after: head) else { return }
        NetworkThread.shared.perform { [now = now, host = host(of: url)] network in
            network.hosts.note(host, seconds: seconds, now: now)
        }
    }

    private func host(of url: URL) -> HostWaits.Host {
        HostWaits.Host(servers: configuration.settings.layers.servers, origin: Origin(url))
    }
}
