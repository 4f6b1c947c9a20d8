import Foundation
import Glibc

/// A control group of a test's own, whose processes get no more than some memory. Pressure is reported by version
/// 2; the limit is one of version 2, too, or of version 1 where that has the memory.
final class ControlGroup: Sendable {
    struct Failure: Error {}

    /// Whether this process may make one; its pages have to be those of a disk, which can be taken back.
    static let isPermitted = !isInMemory(NSTemporaryDirectory()) && countsEvents != nil

    /// Whether it has `memory.events`: where version 1 has the memory, version 2 has no counters of it. `nil` if this
    /// process may not make a group.
    static let countsEvents: Bool? = {
        guard let group = try? ControlGroup(memory: 64 << 20) else { return nil }
        defer { group.remove() }
        return access(group.events, R_OK) == 0
    }()

    /// The path of the file that counts reached limits.
    var events: String { "\(folders[0])/memory.events" }

    /// Whether the file system of a directory is `tmpfs`.
    private static func isInMemory(_ directory: String) -> Bool {
        let mounts: String = (try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8)) ?? ""
        var (longest, type): (Int, String) = (0, "")
        for line in mounts.components(separatedBy: "\n") {
            let words: [String] = line.components(separatedBy: " ")
            guard words.count > 2, directory.hasPrefix(words[1]), words[1].utf8.count >= longest else {
                continue
            }
            (longest, type) = (words[1].utf8.count, words[2])
        }
        return type == "tmpfs"
    }

    /// The first one has `memory.pressure`.
    let folders: [String]

    /// A group whose processes get so much memory, in bytes.
    init(memory: Int) throws {
        let name = "operationnetworking-\(UUID().uuidString)"
        let isUnified = FileManager.default.fileExists(atPath: "/sys/fs/cgroup/cgroup.controllers")
        let root = isUnified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/unified"
        folders = ["\(root)/\(name)"] + (isUnified ? [] : ["/sys/fs/cgroup/memory/\(name)"])
        do {
            for folder in folders where mkdir(folder, 0o755) != 0 { throw Failure() }
            let limit = isUnified ? "memory.high" : "memory.limit_in_bytes"
            try Self.write("\(memory)", to: "\(folders[folders.count - 1])/\(limit)")
            guard access("\(folders[0])/memory.pressure", R_OK | W_OK) == 0 else { throw Failure() }
        } catch {
            remove()
            throw error
        }
    }

    /// After its last process has ended.
    func remove() {
        for folder in folders { rmdir(folder) }
    }

    /// Moves the calling process there.
    static func join(_ folders: [String]) throws {
        for folder in folders { try write("0", to: "\(folder)/cgroup.procs") }
    }

    /// In one write(2), as the kernel wants it.
    private static func write(_ text: String, to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure() }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else { throw Failure() }
    }
}
