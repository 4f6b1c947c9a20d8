internal import Foundation

/// Suspends the task until `condition` holds. For state that notifies nobody, such as a weak reference; an event
/// that calls back opens a ``Gate``.
///
/// The condition is checked on the caller's executor, after each of the first turns of other tasks and then every
/// millisecond, so that the wait takes no processor time from what it waits for.
///
/// - Throws: ``TimeLimitExceeded`` with the caller's line, `CancellationError` if the task is cancelled, or the
///   condition's error.
package func eventually(
    within limit: Duration = .waitingLimit,
    isolation: isolated (any Actor)? = #isolation,
    file: StaticString = #fileID,
    line: UInt = #line,
    _ condition: () throws -> Bool
) async throws {
    let end = ContinuousClock.now + limit
    var turns = 0
    while try !condition() {
        try Task.checkCancellation()
        guard ContinuousClock.now < end else { throw TimeLimitExceeded(limit, file, line) }
        turns += 1
        if turns < 100 {
            await Task.yield()
        } else {
            try await Task.sleep(for: .milliseconds(1))
        }
    }
}

/// Blocks the thread until `condition` holds. For a test that has to keep its thread, such as the main thread;
/// otherwise, use ``eventually(within:isolation:file:line:_:)``.
///
/// - Throws: ``TimeLimitExceeded`` with the caller's line, or the condition's error.
package func eventuallySynchronously(
    within limit: Duration = .waitingLimit,
    file: StaticString = #fileID,
    line: UInt = #line,
    _ condition: () throws -> Bool
) throws {
    let end = ContinuousClock.now + limit
    while try !condition() {
        guard ContinuousClock.now < end else { throw TimeLimitExceeded(limit, file, line) }
        Thread.sleep(forTimeInterval: 0.001)
    }
}

extension TimeLimitExceeded {
    fileprivate init(_ limit: Duration, _ file: StaticString, _ line: UInt) {
        self.init(explanation: "the condition at \(file):\(line) did not hold.", limit: limit)
    }
}
