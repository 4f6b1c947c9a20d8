import Foundation

/// Keeps an operation that went past a barrier until the barrier has passed.
///
/// Foundation's barriers point, without retaining them, to the operations behind them. One that was cancelled
/// does not wait for the barrier; finished and released before, it would leave such a pointer behind.
final class BarrierKeeper: Operation, @unchecked Sendable {
    // @unchecked: the only stored property is never used.

    private let kept: Operation

    init(_ kept: Operation) {
        self.kept = kept
        super.init()
        name = "Keeper of \(kept.name ?? kept.description)"
    }

    /// Does nothing, or it would leave a pointer behind itself.
    override func cancel() {}
}
