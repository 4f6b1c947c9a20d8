import Dispatch
import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

extension Exchange {
    /// Starts the total time when the owner starts the exchange.
    func startTotalTime() {
        guard let left = totalTime.start(now: now) else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + left) { [weak self, lap = totalTime.lap] in
            NetworkThread.shared.perform { [weak self] network in self?.totalTimeIsOver(lap, network) }
        }
    }

    private func totalTimeIsOver(_ lap: Int, _ network: NetworkContext) {
        guard totalTime.isRunning, totalTime.lap == lap, let stop = machine.stop() else { return }
        perform(stop, network)
        fail(URLError.tookTooLong(configuration.settings.timeouts.total ?? 0, url: route.hopURL))
    }
}

/// The time that an exchange has run, and its limit: a value.
struct TotalTime {
    /// The number of starts: the alarm of an earlier one is ignored.
    private(set) var lap = 0
    private let limit: TimeInterval?
    private var spent = 0.0
    private var began: MonotonicTime?

    /// - Parameter limit: in seconds; `nil` or a non-finite value for no limit.
    init(limit: TimeInterval?) {
        self.limit = limit.flatMap { $0.isFinite ? max(0, $0) : nil }
    }

    var isRunning: Bool { began != nil }

    /// Starts the time.
    /// - Returns: the seconds left; `nil` if there is no limit, or the time is already running.
    mutating func start(now: MonotonicTime) -> TimeInterval? {
        guard let limit, began == nil else { return nil }
        began = now
        lap += 1
        return max(0, limit - spent)
    }

    mutating func stop(now: MonotonicTime) {
        if let began { spent += now - began }
        began = nil
    }
}
