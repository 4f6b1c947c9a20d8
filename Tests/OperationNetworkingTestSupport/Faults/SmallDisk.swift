import Foundation

/// A tmpfs of 64 KiB in a mount namespace of its own, which ends with the process that holds it.
final class SmallDisk: Sendable {
    static let capacity = 64 * 1024

    /// Whether this process may make one.
    static let isPermitted = (try? SmallDisk()) != nil

    struct NotPermitted: Error {}

    private let process = Process()
    private let input = Pipe()

    /// - Parameter isReadOnly: whether nothing can be written to it.
    /// - Throws: ``NotPermitted``, or what `Process` throws without unshare(1).
    init(isReadOnly: Bool = false) throws {
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        // The mount point is of no importance: no other process sees what is mounted there.
        let options = "size=\(Self.capacity)" + (isReadOnly ? ",ro" : "")
        let script = "mount -t tmpfs -o \(options) small /mnt && echo ready && cat"
        let namespaces = geteuid() == 0 ? ["--mount"] : ["--map-root-user", "--mount"]
        process.arguments = ["unshare"] + namespaces + ["sh", "-c", script]
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        guard output.fileHandleForReading.availableData == Data("ready\n".utf8) else {
            try end()
            throw NotPermitted()
        }
    }

    deinit {
        // A failure cannot be reported any more.
        try? end()
    }

    /// A file on it, as this process sees it.
    func file(_ name: String) -> URL {
        ["\(process.processIdentifier)", "root", "mnt", name]
            .reduce(URL(fileURLWithPath: "/proc")) { $0.appendingPathComponent($1) }
    }

    private func end() throws {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
