import Foundation

/// A new, empty directory, where possible in memory: what is tried here thousands of times asks the disk to be
/// synchronized each time. Removed with the last reference.
final class MemoryDirectory: Sendable {
    let url: URL

    init() throws {
        let memory = URL(fileURLWithPath: "/dev/shm", isDirectory: true)
        let isThere = FileManager.default.isWritableFile(atPath: memory.path)
        url = (isThere ? memory : FileManager.default.temporaryDirectory)
            .appendingPathComponent("OperationNetworking-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        // A failure cannot be reported any more.
        try? FileManager.default.removeItem(at: url)
    }

    /// The place of a file; nothing is made.
    func file(_ name: String) -> URL {
        url.appendingPathComponent(name, isDirectory: false)
    }
}
