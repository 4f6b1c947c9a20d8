import COperationNetworking
import Glibc

/// A note that the file system keeps with a file (xattr(7)). Not every file system can.
package struct ExtendedAttribute: Hashable, Sendable {
    /// Longer values are not read.
    private static let capacity = 4096

    /// With its namespace, such as `user.etag`.
    package let name: String

    package init(_ name: String) {
        self.name = name
    }

    /// The value, if it is UTF-8; `nil` where there is none. Links are not followed.
    package func value(ofFileAt path: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: Self.capacity)
        let length = cfiles_attribute(path, name, &bytes, bytes.count)
        return length < 0 ? nil : String(validating: bytes.prefix(length), as: UTF8.self)
    }

    /// - Throws: `SystemError`; `EOPNOTSUPP` where the file system cannot keep it.
    package func set(_ value: String, ofFileAt path: String) throws {
        let bytes = Array(value.utf8)
        guard cfiles_set_attribute(path, name, bytes, bytes.count) == 0 else {
            throw SystemError(errno, "setxattr \(path)")
        }
    }
}
