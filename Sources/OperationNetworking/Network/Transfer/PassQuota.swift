/// The pieces of a transfer's body in the present pass of the network thread.
///
/// A server may send a megabyte in chunks of one byte, each of which libcurl hands over by itself. What comes
/// after ``limit`` waits for the next pass, and comes in one.
///
/// libcurl 7.88 reads a fast socket a hundred times, 10 MB, before it lets others go on. A command that
/// comes meanwhile, such as to cancel another transfer, would wait for four of those. So a transfer that had
/// its ``share`` makes way for it.
struct PassQuota {
    /// More than the pieces of a body that is not chunked: libcurl reads a socket at most a hundred times
    /// before it lets others go on.
    static let limit = 512

    /// In bytes. To make way costs some ten microseconds, as long as 10 KiB take.
    static let share = 512 * 1024
    /// Bytes that libcurl brings although it was told to hold: the rest of its buffer, which is smaller
    /// (``EasyHandle/receiveBuffer``). From 8.6 on it may read more; that waits.
    static let rest = 128 * 1024

    private var pass: UInt64 = 0
    private var count = 0
    private var bytes = 0
    /// The bytes of the rest that may still come; `nil`: the transfer has not made way.
    private var restLeft: Int?

    /// - Returns: whether the next piece may be taken in this pass.
    mutating func take(in pass: UInt64) -> Bool {
        if pass != self.pass {
            self.pass = pass
            count = 0
            bytes = 0
            restLeft = nil
        }
        count += 1
        return count <= Self.limit && restLeft.map { $0 > 0 } ?? true
    }

    /// A piece of that many bytes was taken.
    /// - Returns: whether the transfer makes way now: it has had its share, others wait, and it has not
    ///   made way in this pass.
    mutating func makesWay(after bytes: Int, isAwaited: @autoclosure () -> Bool) -> Bool {
        self.bytes += bytes
        if let restLeft {
            self.restLeft = restLeft - bytes
            return false
        }
        guard self.bytes >= Self.share, isAwaited() else { return false }
        restLeft = Self.rest
        return true
    }
}
