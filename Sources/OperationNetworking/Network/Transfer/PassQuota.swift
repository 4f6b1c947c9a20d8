/// The share of a transfer in the current pass of the network thread.
///
/// A server may send a megabyte in chunks of one byte, each of which libcurl delivers separately. Pieces
/// beyond ``limit`` wait for the next pass, and are then delivered as one.
///
/// libcurl 7.88 reads a fast socket a hundred times, 10 MB, before it turns to others. A command that arrives
/// in between, such as cancelling another transfer, would wait for four of those. So a transfer that has had
/// its ``share`` yields to it.
struct PassQuota {
    /// More than the pieces of a body that is not chunked: libcurl reads a socket at most a hundred times
    /// before it turns to others.
    static let limit = 512

    /// In bytes. Yielding costs some ten microseconds, about as long as 10 KiB take.
    static let share = 512 * 1024
    /// The bytes that libcurl still delivers after a transfer is held: the rest of its buffer, which is
    /// smaller (``EasyHandle/receiveBuffer``). From 8.6 on it may read more; that waits.
    static let rest = 128 * 1024

    private var pass: UInt64 = 0
    private var count = 0
    private var bytes = 0
    /// The number of bytes that may still be delivered; `nil` if the transfer has not yielded.
    private var restLeft: Int?

    /// - Returns: whether the next piece may be delivered in this pass.
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

    /// Counts a piece of that many bytes.
    /// - Returns: whether the transfer yields now: it has had its share, others wait, and it has not yielded
    ///   in this pass.
    mutating func yields(after bytes: Int, isAwaited: @autoclosure () -> Bool) -> Bool {
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
