/// Records values from callbacks on any thread, in order, and lets a test wait for them.
///
/// ```swift
/// let progress = Recorder<Int64>()
/// operation.setDownloadProgress { _, total, _ in progress.append(total) }
/// operation.start()
/// #expect(try await progress.wait() == [10])
/// ```
public final class Recorder<Element: Sendable>: Sendable {
    private let recorded = Watched<[Element]>([])

    /// Creates an empty recorder.
    public init() {}

    /// The elements so far, in order.
    public var elements: [Element] { recorded.withLock { $0 } }

    /// Appends `element`. Callable from any thread.
    public func append(_ element: Element) {
        recorded.withLock { $0.append(element) }
    }

    /// Suspends the task until there are at least `count` elements, and returns the first `count`. Later
    /// elements, which depend on timing, are in ``elements``.
    ///
    /// - Throws: ``TimeLimitExceeded``, or `CancellationError` if the task is cancelled.
    @discardableResult
    public func wait(count: Int = 1, within limit: Duration = .waitingLimit) async throws -> [Element] {
        try await recorded.wait(within: limit) {
            "\($0.count) of \(count) were recorded: \($0)"
        } until: {
            $0.count >= count ? Array($0.prefix(count)) : nil
        }
    }

    /// Blocks the thread until there are at least `count` elements, and returns the first `count`. For
    /// threads that may block; in tasks, use ``wait(count:within:)``.
    ///
    /// - Throws: ``TimeLimitExceeded``.
    @discardableResult
    public func waitSynchronously(
        count: Int = 1,
        within limit: Duration = .waitingLimit
    ) throws(TimeLimitExceeded) -> [Element] {
        try recorded.waitSynchronously(within: limit) {
            "\($0.count) of \(count) were recorded: \($0)"
        } until: {
            $0.count >= count ? Array($0.prefix(count)) : nil
        }
    }
}
