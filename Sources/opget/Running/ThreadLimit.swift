import Dispatch
import Glibc

/// The limit of threads of the user (`ulimit -u`) or of a container (`pids.max`).
///
/// libdispatch waits indefinitely for a thread that cannot be created, so that the process hangs and ignores
/// signals. So the available threads are counted before the run.
enum ThreadLimit {
    /// The maximum number that the process and one transfer need, besides the first thread.
    static let minimum = 8
    /// The maximum number that one transfer needs: one for its file, and one that examines it.
    private static let perTransfer = 2
    /// The number that the process needs additionally.
    private static let reserve = 6
    /// The maximum number of threads that are tried, which takes time; a limit is rarely between this number
    /// and the required one.
    private static let largestTrial = 64
    /// The threads of a trial wait here.
    private static let gate = DispatchSemaphore(value: 0)

    /// Creates threads, all at the same time, and ends them.
    ///
    /// - Parameter transfers: the number of concurrent transfers.
    /// - Returns: the number that could be created, at most the number that is needed.
    static func trial(for transfers: Int) -> Int {
        let wanted = min(largestTrial, reserve + perTransfer * min(transfers, largestTrial))
        var threads: [pthread_t] = []
        while threads.count < wanted {
            var thread = pthread_t()
            let code = pthread_create(
                &thread,
                nil,
                { _ in
                    ThreadLimit.gate.wait()
                    return nil
                },
                nil
            )
            guard code == 0 else { break }
            threads.append(thread)
        }
        for _ in threads { gate.signal() }
        for thread in threads { pthread_join(thread, nil) }
        return threads.count
    }

    /// Returns how many of the `asked` concurrent transfers `threads` suffice for: at least one.
    static func transfers(asked: Int, threads: Int) -> Int {
        threads >= largestTrial ? asked : min(asked, max(1, (threads - reserve) / perTransfer))
    }
}
