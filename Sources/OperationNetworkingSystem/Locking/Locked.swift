public import Glibc

/// A value that can only be reached while its lock is held.
///
/// Taking the lock twice on one thread is a programmer's mistake and traps. The lock is a pthread mutex:
/// `Synchronization.Mutex` gives false races under ThreadSanitizer.
///
/// Public, so that other modules can specialise it: of `package` declarations the compiler hands no bodies
/// over, even if they are `@inlinable`. This module is in no product.
public struct Locked<Value>: @unchecked Sendable {
    // @unchecked: `storage` is immutable, and what it holds is read and written only between lock and unlock.
    @usableFromInline let storage: Storage

    /// A lock, and the value behind it, which is made in its place: a value with a dozen references is not
    /// copied.
    @inlinable
    public init(_ value: @autoclosure () -> Value) {
        storage = Storage.make(value)
    }

    /// Runs `body` with the lock held; nothing that may call back into the owner of the lock belongs inside.
    @inlinable
    public func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        storage.lock()
        defer { storage.unlock() }
        // Without a check for exclusive access at run time: the mutex is one.
        return try storage.withUnsafeMutablePointerToHeader { header throws(Failure) in
            try body(&header.pointee.value)
        }
    }

    /// As ``withLock(_:)``, for settings: what `body` replaces is released after the lock, since that may run
    /// anything.
    @inlinable
    public func change(_ body: (inout Value) -> Void) {
        let old = withLock { value in
            let old = value
            body(&value)
            return old
        }
        withExtendedLifetime(old) {}
    }

    /// The value, with the lock held for as long as it is read or changed in place.
    package var exclusive: Value {
        get { withLock { $0 } }
        nonmutating _modify {
            storage.lock()
            defer { storage.unlock() }
            yield &storage.header.value
        }
    }

    /// As ``change(_:)``, for one part: `exchange` puts the new one in its place, and leaves the old one, as
    /// `swap` does.
    @inlinable
    public func replace<Part>(_ part: Part, _ exchange: (inout Value, inout Part) -> Void) {
        var part = part
        withLock { exchange(&$0, &part) }
        withExtendedLifetime(part) {}
    }

    /// Value and mutex in one allocation: a program may queue 100,000 operations.
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
