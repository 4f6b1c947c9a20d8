public import Foundation

/// A new, empty directory that is removed with its contents when the object is deallocated.
public final class TemporaryDirectory: Sendable {
    /// The directory.
    public let url: URL

    /// Creates a directory with a unique name in the system's temporary directory.
    ///
    /// - Throws: the error of `FileManager` if it cannot be created.
    public init() throws {
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("OperationNetworking-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        // A failure cannot be reported here, and a leftover in the temporary directory is harmless.
        try? FileManager.default.removeItem(at: url)
    }

    /// Returns the URL of a file called `name` in the directory; does not create it.
    public func file(_ name: String = "file") -> URL {
        url.appendingPathComponent(name, isDirectory: false)
    }
}
