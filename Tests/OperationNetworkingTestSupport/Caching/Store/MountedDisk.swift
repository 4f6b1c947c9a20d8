import Foundation
import Glibc
import OperationNetworkingTesting

@testable import OperationNetworking

/// A small file system in memory, mounted on a temporary directory until this object goes.
final class MountedDisk: Sendable {
    struct NotPermitted: Error {}

    /// Whether this process may mount one.
    static let isPermitted = (try? MountedDisk(capacity: 1 << 20)) != nil

    private let directory: TemporaryDirectory

    /// - Parameter capacity: in bytes.
    /// - Throws: ``NotPermitted``.
    init(capacity: Int) throws {
        directory = try TemporaryDirectory()
        guard mount("small", directory.url.path, "tmpfs", 0, "size=\(capacity)") == 0 else {
            throw NotPermitted()
        }
    }

    deinit {
        // That of makeReadOnly() lies over the first one.
        for _ in 0..<2 where umount2(directory.url.path, Int32(MNT_DETACH)) != 0 { break }
    }

    /// For those that open it from now on.
    func makeReadOnly() throws {
        let flags = UInt(MS_REMOUNT | MS_RDONLY)
        guard mount("small", directory.url.path, "tmpfs", flags, nil) == 0 else {
            // Files that are open to write forbid it; a bind mount over it does not.
            let bound = UInt(MS_BIND)
            guard mount(directory.url.path, directory.url.path, nil, bound, nil) == 0,
                mount(nil, directory.url.path, nil, bound | flags, nil) == 0
            else { throw NotPermitted() }
            return
        }
    }

    func names() throws -> [String] {
        try cacheNames(directory)
    }

    func store(memory: Int = 1 << 20) -> ResponseStore {
        .sample(directory, memory: memory)
    }
}
