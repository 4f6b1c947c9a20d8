internal import Foundation
internal import OperationNetworkingSystem

/// The machine of a download, besides its files; a test has its own.
struct DownloadEnvironment {
    /// Is told of every change of a file before it is made, and can make it fail.
    var watch: FileChange.Watcher?
    /// For intervals.
    var clock: () -> MonotonicTime = { .now }
    /// Seconds since 1970.
    var wallClock: () -> Int64 = { Int64(Date().timeIntervalSince1970) }
    /// Names the run of the kernel and the mount through which a file is written: as long as both are the
    /// same, no byte that was written can be lost. Before Linux 6.8 another mount of this run may have the
    /// same name (``PartFile/mount``). `nil`: the system does not tell.
    var session: (PartFile) -> String? = { file in
        guard let boot = KernelBoot.identifier, let mount = file.mount else { return nil }
        return "\(boot)/\(mount)"
    }
}
