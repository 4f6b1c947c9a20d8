import Glibc

/// How many files and sockets the process may have open.
enum DescriptorLimit {
    /// What one transfer needs at most: its connection, its file, the folder, a checkpoint that is being written, and one
    /// to spare.
    private static let perTransfer = 5
    /// What the process needs besides.
    private static let reserve = 32

    /// Raises the soft limit to the hard one, and returns what it is then.
    static func raise() -> Int {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return 256 }
        var raised = limit
        raised.rlim_cur = raised.rlim_max
        if setrlimit(resource, &raised) == 0 { limit = raised }
        return Int(clamping: limit.rlim_cur)
    }

    /// How many transfers may run at once when `asked` are wanted and there are `descriptors`: at least one.
    static func transfers(asked: Int, descriptors: Int) -> Int {
        min(asked, max(1, (descriptors - reserve) / perTransfer))
    }
}
