import Glibc

/// The identity of a thread, for preconditions.
package struct ThreadIdentity: @unchecked Sendable {
    // @unchecked: an immutable identifier that is only compared, never used to access the thread.
    private let thread: pthread_t

    /// The calling thread.
    package static var current: ThreadIdentity {
        ThreadIdentity(thread: pthread_self())
    }

    /// Whether this is the calling thread.
    package var isCurrent: Bool {
        pthread_equal(pthread_self(), thread) != 0
    }
}
