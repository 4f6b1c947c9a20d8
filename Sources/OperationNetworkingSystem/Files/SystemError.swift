import Glibc

/// A failed system call: which one, and why.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// `errno`, as in errno(3).
    package let code: Int32
    /// The name of the call, or what was attempted.
    package let call: String

    /// `EEXIST`: the name is taken.
    package static let exists = EEXIST
    /// `ENOENT`: nothing has the name.
    package static let missing = ENOENT
    /// `EBUSY`: it is used all the time.
    package static let busy = EBUSY
    /// `ESTALE`: the name is that of another file by now.
    package static let replaced = ESTALE

    /// `EFBIG`: longer than a file may be.
    package static let tooLarge = EFBIG
    /// `ENOSPC`: the disk is full.
    package static let noSpace = ENOSPC

    /// Whether there is no room: on the disk, or for this user.
    package var isLackOfSpace: Bool { code == ENOSPC || code == EDQUOT }

    /// `EXDEV`: a name on another file system is no name of the same file.
    package var isOtherFileSystem: Bool { code == EXDEV }

    /// Whether the user lacks the permission.
    package var isLackOfPermission: Bool { code == EACCES || code == EPERM }

    package init(_ code: Int32, _ call: String) {
        self.code = code
        self.call = call
    }

    /// The system's sentence for ``code``.
    package var reason: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard strerror_r(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    package var description: String {
        "\(call): \(reason) (errno \(code))"
    }
}
