public import Foundation

/// A new, empty directory that is removed, with all that is in it, when the last reference goes away.
public final class TemporaryDirectory: Sendable {
    /// The directory.
    public let url: URL

    /// Makes a directory with a unique name in the system's temporary directory.
    ///
    /// - Throws: what `FileManager` throws when it cannot be made.
    public init() throws {
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("OperationNetworking-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        // A failure cannot be reported any more, and a leftover in the temporary directory does no harm.
        try? FileManager.default.removeItem(at: url)
    }

    /// The place of a file called `name` in the directory; nothing is made.
    public func file(_ name: String = "file") -> URL {
        url.appendingPathComponent(name, isDirectory: false)
    }
}
