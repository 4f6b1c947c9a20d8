// `struct rlimit` is in one or the other, depending on how the modules were built.
import COperationNetworking
import Glibc

/// The descriptors of this process.
package enum DescriptorTable {
    /// The limit of open descriptors; `nil` if it is unknown or unlimited (getrlimit(2), `RLIMIT_NOFILE`).
    package static var limit: Int? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        return limit.rlim_cur > rlim_t(Int32.max) ? nil : Int(limit.rlim_cur)
    }

    /// The number of open descriptors; `nil` without `/proc`. Takes linear time.
    package static var count: Int? {
        guard let directory = opendir("/proc/self/fd") else {
            // No descriptor is left to open the directory.
            return errno == EMFILE ? limit : nil
        }
        defer { closedir(directory) }
        // Without the entries for the directory itself and its parent, and without the descriptor that reads
        // it.
        var count = -3
        while readdir(directory) != nil { count += 1 }
        return count
    }
}
