// `struct rlimit` belongs to one or the other, as the modules were built.
import COperationNetworking
import Glibc

/// The descriptors of this process.
package enum DescriptorTable {
    /// The limit of open descriptors; `nil`: the system does not say, or any number (getrlimit(2),
    /// `RLIMIT_NOFILE`).
    package static var limit: Int? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        return limit.rlim_cur > rlim_t(Int32.max) ? nil : Int(limit.rlim_cur)
    }

    /// The number of open descriptors; `nil` without `/proc`. Costs time for each.
    package static var count: Int? {
        guard let directory = opendir("/proc/self/fd") else {
            // There is not even one for looking.
            return errno == EMFILE ? limit : nil
        }
        defer { closedir(directory) }
        // Those of the directory itself and of its parent are no descriptors, and the one that looks is
        // closed then.
        var count = -3
        while readdir(directory) != nil { count += 1 }
        return count
    }
}
