import Glibc

/// A value that can only be reached while its lock is held.
///
/// Taking the lock twice on one thread is a programmer's mistake and traps. The lock is a pthread mutex:
/// `Synchronization.Mutex` gives false races under ThreadSanitizer.
package struct Locked<Value>: @unchecked Sendable {
    // @unchecked: `storage` is immutable, and what it holds is read and written only between lock and unlock.
    private let storage: Storage

    package init(_ value: Value) {
        storage = Storage.make(value)
    }

    /// Runs `body` with the lock held; nothing that may call back into the owner of the lock belongs inside.
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        storage.lock()
        defer { storage.unlock() }
        return try body(&storage.header.value)
    }

    /// As ``withLock(_:)``, for settings: what `body` replaces is released after the lock, since that may run
    /// anything.
    package func change(_ body: (inout Value) -> Void) {
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

    /// Value and mutex in one allocation: a program may queue 100,000 operations.
    private final class Storage: ManagedBuffer<Storage.Header, pthread_mutex_t> {
        struct Header {
            var value: Value
        }

        static func make(_ value: Value) -> Storage {
            let made = create(minimumCapacity: 1) { buffer in
                buffer.withUnsafeMutablePointerToElements { mutex in
                    var attributes = pthread_mutexattr_t()
                    pthread_mutexattr_init(&attributes)
                    pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ERRORCHECK))
                    pthread_mutex_init(mutex, &attributes)
                    pthread_mutexattr_destroy(&attributes)
                }
                return Header(value: value)
            }
            return unsafeDowncast(made, to: Storage.self)
        }

        deinit {
            _ = withUnsafeMutablePointerToElements { pthread_mutex_destroy($0) }
        }

        func lock() {
            let code = withUnsafeMutablePointerToElements { pthread_mutex_lock($0) }
            precondition(code == 0, "A lock was taken twice on one thread")
        }

        func unlock() {
            _ = withUnsafeMutablePointerToElements { pthread_mutex_unlock($0) }
        }
    }
}
