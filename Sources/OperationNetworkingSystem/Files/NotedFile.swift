import COperationNetworking
import Glibc

/// A regular file with its stamp, its owner, and an extended attribute, all read from one open file, so that
/// it cannot be exchanged in between.
///
/// Follows symbolic links. Used by one thread at a time; closed on deallocation.
package final class NotedFile {
    /// Longer values are not read.
    private static let capacity = 4096

    package let stamp: FileStamp
    /// The value of the attribute; `nil` if there is none, or the file system does not support attributes.
    package let note: String?
    package let lastingIdentity: LastingFileIdentity
    /// Whether it belongs to the effective user.
    package let isMine: Bool
    /// Whether users other than its owner may write it: all others, or a group that is not the effective
    /// user's own.
    package let mayBeWrittenByOthers: Bool
    private let descriptor: Int32
    private let path: String

    /// - Returns: `nil` if there is no regular file.
    /// - Throws: `SystemError` if it cannot be read.
    package init?(path: String, attribute: String) throws {
        // O_NONBLOCK: opening a FIFO without a writer would block indefinitely.
        let descriptor = cfiles_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0)
        guard descriptor >= 0 else {
            guard errno == ENOENT || errno == ENOTDIR else { throw SystemError(errno, "open \(path)") }
            return nil
        }
        var owner = cowner()
        guard cowner_of_descriptor(descriptor, &owner) == 1 else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
        self.path = path
        stamp = FileStamp(length: owner.length, seconds: owner.seconds, nanoseconds: owner.nanoseconds)
        lastingIdentity = LastingFileIdentity(inode: owner.inode, birth: FileTime(birthOf: descriptor))
        isMine = owner.is_mine != 0
        let isShared =
            owner.group_may_write != 0
            && (cowner_has_list(descriptor) != 0 || cowner_is_private_group(owner.group) == 0)
        mayBeWrittenByOthers = owner.others_may_write != 0 || isShared
        note = Self.note(of: descriptor, attribute)
    }

    deinit {
        close(descriptor)
    }

    private static func note(of descriptor: Int32, _ attribute: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: Self.capacity)
        let length = cowner_attribute(descriptor, attribute, &bytes, bytes.count)
        guard length >= 0 else { return nil }
        return String(validating: bytes.prefix(length), as: UTF8.self)
    }

    /// The bytes from `offset` on, at most `count`; fewer only where the file ends.
    package func read(_ count: Int, at offset: Int64) throws -> [UInt8] {
        try [UInt8](reading: count, from: descriptor, at: offset, of: path)
    }
}
