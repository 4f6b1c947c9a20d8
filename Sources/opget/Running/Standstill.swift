/// The halts of a run: by the user's key, which pauses its transfers, and by Ctrl-Z, which stops the process.
struct Standstill {
    /// By the key.
    var isPaused = false
    /// By Ctrl-Z.
    private(set) var isSuspended = false
    private var lastResume = -Double.infinity

    mutating func suspend() {
        isSuspended = true
    }

    /// The process goes on.
    /// - Returns: whether it was stopped by SIGSTOP: the process that had the terminal meanwhile has written
    ///   below what was drawn. A SIGCONT that comes at once is the one that ``suspend()`` was followed by.
    mutating func resume(now: Double) -> Bool {
        guard isSuspended else { return now - lastResume > 1 }
        isSuspended = false
        lastResume = now
        return false
    }
}
