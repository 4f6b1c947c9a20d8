import Dispatch
internal import OperationNetworkingSystem

/// Limits the time for which transfers wait for a store: its disk may stall, or another process may hold the
/// index, and no request fails or hangs for that.
///
/// Used on the network thread.
final class CacheWatch: @unchecked Sendable {
    // @unchecked: used on the network thread only, but for the time, which never changes.

    /// Seconds for which a transfer waits for what the server has as well.
    static let standardPatience = 1.0

    let patience: Double
    private var waits = BinaryHeap<MonotonicTime, () -> Void>()
    /// The moment of the next look.
    private var alarm: MonotonicTime?

    init(patience: Double = CacheWatch.standardPatience) {
        self.patience = patience
    }

    /// Has `body` run on the network thread in some seconds, unless they are 0, less, or infinite. It looks
    /// by itself whether that is of use still.
    func wait(_ seconds: Double, _ body: @escaping () -> Void) {
        guard seconds > 0, seconds.isFinite else { return }
        let end = MonotonicTime.now + seconds
        waits.insert(body, end)
        if alarm.map({ end < $0 }) ?? true { setAlarm(at: end, in: seconds) }
    }

    private func setAlarm(at end: MonotonicTime, in seconds: Double) {
        alarm = end
        DispatchQueue.global().asyncAfter(deadline: .now() + min(seconds, 86_400)) { [weak self] in
            NetworkThread.shared.perform { [weak self] _ in self?.look(at: end) }
        }
    }

    private func look(at moment: MonotonicTime) {
        // An earlier one may have been set since.
        guard alarm == moment else { return }
        alarm = nil
        let now = MonotonicTime.now
        while let first = waits.first, first.key <= now {
            waits.removeFirst()?.value()
        }
        if let next = waits.first?.key { setAlarm(at: next, in: max(next - now, 0.001)) }
    }
}
