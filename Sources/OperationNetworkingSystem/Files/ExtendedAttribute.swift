/// The name of an extended attribute (xattr(7)), which not all file systems support.
package struct ExtendedAttribute: Hashable, Sendable {
    /// The name with its namespace, such as `user.name`.
    package let name: String

    package init(_ name: String) {
        self.name = name
    }
}
