internal import Foundation

/// A value that can only be accessed while its lock is held. This module has its own type, so that it does
/// not depend on internals of the main library.
package final class Guarded<Value>: @unchecked Sendable {
    // @unchecked: `value` is read and written only between lock and unlock.
    private let lock = NSLock()
    private var value: Value

    package init(_ value: Value) {
        self.value = value
    }

    /// Runs `body` with the lock held. `body` must not call back into the owner of the lock.
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
