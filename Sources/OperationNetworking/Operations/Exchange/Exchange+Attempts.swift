import Dispatch
import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

// Attempts: whether and when the whole begins again.
extension Exchange {
    /// Whether the server of the next transfer asked to be left alone for a while; then the transfer starts
    /// after that.
    func waitsForHost(_ network: NetworkContext) -> Bool {
        guard attempts.mayWait, let url = route.hopURL,
            let rest = network.hosts.remaining(for: host(of: url), now: now),
            let delay = attempts.wait(whileHostRests: rest, now: now)
        else { return false }
        // Old by then.
        cookies.forget()
        route.adapted = nil
        owner?.exchangeWillRetry(Retry(cause: .busyServer(url), delay: delay))
        wait(delay, because: url) { exchange, network in exchange.prepare(network) }
        return true
    }

    /// Seconds until another attempt, if this response may be better then.
    func retryDelay(after head: ResponseHead) -> TimeInterval? {
        noteRest(after: head)
        guard canSendAgain, !wantsOnlyStored, let url = route.hopURL, let response = head.response(for: url),
            let delay = attempts.wait(after: head, to: configuration.request, now: now)
        else { return nil }
        owner?.exchangeWillRetry(Retry(cause: .response(response), delay: delay))
        return delay
    }

    /// Seconds until another attempt after what is no answer of the server, or no file, as after a 503. `head`:
    /// of the response, if there was one; it may say when to come back.
    func outageDelay(because error: any Error, after head: ResponseHead? = nil) -> TimeInterval? {
        guard canSendAgain, !wantsOnlyStored,
            let delay = attempts.wait(afterOutage: head?.fields, to: configuration.request, now: now)
        else { return nil }
        owner?.exchangeWillRetry(Retry(cause: .error(error), delay: delay))
        return delay
    }

    /// What follows where the kept bytes are of no use: the whole is asked for. That counts as another attempt, and
    /// has its delay. Without retries it is done once, at once, and then it fails.
    func askForWhole(because reason: RestartReason) -> ExchangeNext {
        let error = ResumeError.mustStartOver(reason)
        noteProgress()
        guard canSendAgain else { return .fail(error) }
        guard let delay = attempts.wait(beforeWholeOf: configuration.request, now: now) else {
            return attempts.mayAskForWhole() ? .again : .fail(error)
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

    /// Waits for a network, or for `delay` if it was not gone. Time that runs out makes the error the result.
    private func wait(_ wait: Attempts.NetworkWait, else delay: TimeInterval, _ error: any Error) {
        owner?.exchangeLasts()
        sink.flush()
        let hear = waitWithoutPlace(.time(route.hopURL.map(host))) { exchange, hasWaited, _ in
            exchange.stopAsking = nil
            exchange.tick()
            exchange.retry(after: hasWaited ? wait.delay : delay)
        }
        let round = machine.round
        // Not here: it may ask the kernel.
        let task = Task.detached { hear(await wait.network.waitForNetwork()) }
        stopAsking = { task.cancel() }
        guard let limit = wait.limit else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + limit) { [weak self] in
            NetworkThread.shared.perform { [weak self] _ in
                guard let self, machine.goesOn(in: round) else { return }
                stopAsking?()
                stopAsking = nil
                tick()
                fail(error)
            }
        }
    }

    private var canSendAgain: Bool {
        sink.failure == nil && route.canStartOver
    }

    /// Whether no server is asked, so that another attempt would get the same response.
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

    /// Nothing comes of it after a cancel or a pause.
    private func wait(
        _ seconds: TimeInterval,
        because url: URL?,
        then go: @escaping @Sendable (Exchange, NetworkContext) -> Void
    ) {
        owner?.exchangeLasts()
        sink.flush()
        let end = waitWithoutPlace(.time(url.map(host))) { (exchange, _: Void, network) in
            go(exchange, network)
        }
        // That keeps nothing: the wait may be ten minutes, and the operation be released long before.
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { end(()) }
    }

    /// Called from within libcurl, where the room is not lent: it is told right after.
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
