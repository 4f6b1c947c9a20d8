internal import Foundation

/// A value that can only be reached while its lock is held. The images' own, so that this product stands on
/// the public library alone.
package final class Guarded<Value>: @unchecked Sendable {
    // @unchecked: `value` is read and written only between lock and unlock.
    private let lock = NSLock()
    private var value: Value

    package init(_ value: Value) {
        self.value = value
    }

    /// Runs `body` with the lock held; nothing that may call back into the owner of the lock belongs inside.
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
