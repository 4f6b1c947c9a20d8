/// The times of a regular file, to detect changes by other processes.
///
/// A program can restore the first one, but not the second one.
package struct FileTimes: Hashable, Sendable {
    /// A kernel timestamp, since 1970. Its clock has a resolution of some milliseconds.
    package struct Moment: Hashable, Sendable {
        let seconds: Int64
        let nanoseconds: Int64
    }

    /// The last change of its bytes.
    package let modified: Moment
    /// The last change of its bytes, names, permissions, attributes or times.
    package let changed: Moment
}
