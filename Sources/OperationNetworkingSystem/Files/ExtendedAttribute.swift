/// The name of a note that the file system keeps with a file (xattr(7)). Not every file system can.
package struct ExtendedAttribute: Hashable, Sendable {
    /// With its namespace, such as `user.name`.
    package let name: String

    package init(_ name: String) {
        self.name = name
    }
}
