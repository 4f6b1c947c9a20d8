internal import OperationNetworkingSystem

/// The machine that a download runs on, except its files. Tests replace it.
struct DownloadEnvironment {
    /// Called before every change of a file; may make it fail.
    var watch: FileChange.Watcher?
    /// The clock for intervals.
    var clock: () -> MonotonicTime = { .now }
    /// Identifies the boot of the kernel, and the device and the mount through which a file is written: while they are
    /// the same, no written byte can be lost. Before Linux 6.8, a later mount may have the same identifier
    /// (``PartFile/mount``). `nil` if the system does not provide them.
    var session: (PartFile) -> String? = { file in
        guard let boot = KernelBoot.identifier, let mount = file.mount else { return nil }
        return "\(boot)/\(file.identity.device)/\(mount)"
    }
}
