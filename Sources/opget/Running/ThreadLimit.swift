import Dispatch
import Glibc

/// The limit of threads, of the user (`ulimit -u`) or of a container (`pids.max`).
///
/// libdispatch waits without end for a thread that cannot be made, and then nothing goes on, and no signal is
/// heard. So whether there are enough is tried before anything begins.
enum ThreadLimit {
    /// The number that the process and one transfer need at most, besides the first thread.
    static let minimum = 8
    /// The number that one transfer needs at most: one for its file, and one that looks at it.
    private static let perTransfer = 2
    /// The number that the process needs besides.
    private static let reserve = 6
    /// More are not tried: that takes time, and a limit is rarely between this and what is needed.
    private static let largestTrial = 64
    /// Threads that are being tried wait here.
    private static let gate = DispatchSemaphore(value: 0)

    /// Makes threads, all at once, and ends them.
    ///
    /// - Parameter transfers: how many are wanted at once.
    /// - Returns: the number that could be made, no more than these need.
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

    /// The number of transfers that may run at once when `asked` are wanted and a trial made `threads`: at
    /// least one.
    static func transfers(asked: Int, threads: Int) -> Int {
        threads >= largestTrial ? asked : min(asked, max(1, (threads - reserve) / perTransfer))
    }
}
