import Foundation
import Glibc

/// The temporary files there are now, for an end that cannot wait for their owners. Callable from any thread.
final class Leftovers: @unchecked Sendable {
    // @unchecked: `paths` is touched only under `lock`.
    private let lock = NSLock()
    private var paths: Set<FilePath> = []

    func add(_ path: FilePath) {
        lock.withLock { _ = paths.insert(path) }
    }

    func remove(_ path: FilePath) {
        lock.withLock { _ = paths.remove(path) }
    }

    /// Removes the files.
    func removeFiles() {
        for path in lock.withLock({ paths }) { unlink(path.text) }
    }
}
