internal import Foundation

/// The threads of a server that were started and have not ended.
struct ServerThreads: Sendable {
    private var count = 0
    /// The threads that have begun.
    private var ids: Set<pthread_t> = []

    /// One is going to be started.
    mutating func willStart() {
        count += 1
    }

    mutating func didFailToStart() {
        count -= 1
    }

    /// Called on the thread.
    mutating func didStart() {
        ids.insert(pthread_self())
    }

    /// Called on the thread, last of all.
    mutating func willEnd() {
        ids.remove(pthread_self())
        count -= 1
    }

    /// Whether all have ended but `caller`, if that is one of them.
    func haveEnded(but caller: pthread_t) -> Bool { count == (ids.contains(caller) ? 1 : 0) }
}
