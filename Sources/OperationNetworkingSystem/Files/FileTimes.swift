/// The times of a regular file, to detect changes by other processes.
///
/// A program can restore the first one, but not the second one.
package struct FileTimes: Hashable, Sendable {
    /// The last change of its bytes.
    package let modified: FileTime
    /// The last change of its bytes, names, permissions, attributes or times.
    package let changed: FileTime
}
