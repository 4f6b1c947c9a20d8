public import Glibc

/// A value that can only be accessed while its lock is held.
///
/// Locking twice on one thread is a programming error and traps. Uses a pthread mutex, because
/// `Synchronization.Mutex` causes false positives in ThreadSanitizer.
///
/// Public, so that other modules can specialize it: the compiler does not export the bodies of `package`
/// declarations, even if they are `@inlinable`. This module is not part of any product.
public struct Locked<Value>: @unchecked Sendable {
    // @unchecked: `storage` is immutable, and its contents are accessed only between lock and unlock.
    @usableFromInline let storage: Storage

    /// Creates a lock and its value, which is initialized in place to avoid a copy.
    @inlinable
    public init(_ value: @autoclosure () -> Value) {
        storage = Storage.make(value)
    }

    /// Runs `body` with the lock held. `body` must not call back into the owner of the lock.
    @inlinable
    public func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        storage.lock()
        defer { storage.unlock() }
        // Without a run-time exclusivity check, which the mutex replaces.
        return try storage.withUnsafeMutablePointerToHeader { header throws(Failure) in
            try body(&header.pointee.value)
        }
    }

    /// Like ``withLock(_:)``, for settings: replaced objects are released after unlocking, because their
    /// deinitializers may run arbitrary code.
    @inlinable
    public func change(_ body: (inout Value) -> Void) {
        let old = withLock { value in
            let old = value
            body(&value)
            return old
        }
        withExtendedLifetime(old) {}
    }

    /// The value, with the lock held while it is read or modified in place.
    package var exclusive: Value {
        get { withLock { $0 } }
        nonmutating _modify {
            storage.lock()
            defer { storage.unlock() }
            yield &storage.header.value
        }
    }

    /// Like ``change(_:)``, for one part: `exchange` swaps the new part with the old one.
    @inlinable
    public func replace<Part>(_ part: Part, _ exchange: (inout Value, inout Part) -> Void) {
        var part = part
        withLock { exchange(&$0, &part) }
        withExtendedLifetime(part) {}
    }

    /// Stores value and mutex in one allocation: a program may queue 100,000 operations.
    @usableFromInline
    final class Storage: ManagedBuffer<Storage.Header, pthread_mutex_t> {
        @usableFromInline
        struct Header {
            @usableFromInline var value: Value

            @inlinable
            init(value: Value) {
                self.value = value
            }
        }

        @inlinable
        static func make(_ value: () -> Value) -> Storage {
            let made = create(minimumCapacity: 1) { buffer in
                buffer.withUnsafeMutablePointerToElements { mutex in
                    var attributes = pthread_mutexattr_t()
                    pthread_mutexattr_init(&attributes)
                    pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ERRORCHECK))
                    pthread_mutex_init(mutex, &attributes)
                    pthread_mutexattr_destroy(&attributes)
                }
                return Header(value: value())
            }
            return unsafeDowncast(made, to: Storage.self)
        }

        @inlinable
        deinit {
            _ = withUnsafeMutablePointerToElements { pthread_mutex_destroy($0) }
        }

        @inlinable
        func lock() {
            let code = withUnsafeMutablePointerToElements { pthread_mutex_lock($0) }
            precondition(code == 0, "A lock was taken twice on one thread")
        }

        @inlinable
        func unlock() {
            _ = withUnsafeMutablePointerToElements { pthread_mutex_unlock($0) }
        }
    }
}
