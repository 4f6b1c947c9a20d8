import Glibc

/// The limit of open files and sockets of the process.
enum DescriptorLimit {
    /// The maximum number that the process and one transfer need. With fewer, libdispatch may fail to create
    /// its descriptors and crash.
    static let minimum = 28
    /// The maximum number that one transfer needs: its connection, its file, the folder, a checkpoint that is
    /// being written, and one spare.
    private static let perTransfer = 5
    /// The number that the process needs additionally.
    private static let reserve = 32

    /// Raises the soft limit to the hard one, and returns the result.
    static func raise() -> Int {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return 256 }
        var raised = limit
        raised.rlim_cur = raised.rlim_max
        if setrlimit(resource, &raised) == 0 { limit = raised }
        return Int(clamping: limit.rlim_cur)
    }

    /// Whether `count` more can be opened. Determined by trial, because inherited descriptors may have any
    /// numbers.
    static func canOpen(_ count: Int) -> Bool {
        var opened: [Int32] = []
        defer { for descriptor in opened { close(descriptor) } }
        while opened.count < count {
            // Standard output is always open, possibly to /dev/null.
            let descriptor = fcntl(1, F_DUPFD_CLOEXEC, 0)
            guard descriptor >= 0 else { return false }
            opened.append(descriptor)
        }
        return true
    }

    /// Returns how many of the `asked` concurrent transfers `descriptors` suffice for: at least one.
    static func transfers(asked: Int, descriptors: Int) -> Int {
        min(asked, max(1, (descriptors - reserve) / perTransfer))
    }
}
