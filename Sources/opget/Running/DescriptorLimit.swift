import Glibc

/// The limit of files and sockets that the process may have open.
enum DescriptorLimit {
    /// The number that the process and one transfer need at most. With fewer, libdispatch cannot make what it
    /// waits with, and ends the process by a signal.
    static let minimum = 28
    /// The number that one transfer needs at most: its connection, its file, the folder, a checkpoint that is
    /// being written, and one to spare.
    private static let perTransfer = 5
    /// The number that the process needs besides.
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

    /// Whether `count` more can be opened: tried, since what is open already has numbers of any height.
    static func canOpen(_ count: Int) -> Bool {
        var opened: [Int32] = []
        defer { for descriptor in opened { close(descriptor) } }
        while opened.count < count {
            // Standard output is open, if only to nothing.
            let descriptor = fcntl(1, F_DUPFD_CLOEXEC, 0)
            guard descriptor >= 0 else { return false }
            opened.append(descriptor)
        }
        return true
    }

    /// The number of transfers that may run at once when `asked` are wanted and there are `descriptors`: at
    /// least one.
    static func transfers(asked: Int, descriptors: Int) -> Int {
        min(asked, max(1, (descriptors - reserve) / perTransfer))
    }
}
