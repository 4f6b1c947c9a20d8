import Foundation

/// A value behind a lock.
final class Protected<Value>: @unchecked Sendable {
    // @unchecked: `value` is read and changed only with the lock held.
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) {
        self.value = value
    }

    func read<Result>(_ body: (Value) -> Result) -> Result {
        lock.withLock { body(value) }
    }

    @discardableResult
    func change<Result>(_ body: (inout Value) -> Result) -> Result {
        lock.withLock { body(&value) }
    }
}
