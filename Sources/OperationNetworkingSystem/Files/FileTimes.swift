/// The times of a regular file, by which a process that does not write it sees whether another one did.
///
/// A program can set the first one to what it was, and not the second one.
package struct FileTimes: Hashable, Sendable {
    /// A moment as the kernel keeps it, since 1970. Its clock may stand still for some milliseconds.
    package struct Moment: Hashable, Sendable {
        let seconds: Int64
        let nanoseconds: Int64
    }

    /// The last change of its bytes.
    package let modified: Moment
    /// The last change of its bytes, names, permissions, attributes or times.
    package let changed: Moment
}
