/// The pieces of a transfer's body in the present pass of the network thread.
///
/// A server may send a megabyte in chunks of one byte, each of which libcurl hands over by itself. What comes
/// after ``limit`` waits for the next pass, and comes in one.
struct PassPieces {
    /// More than the pieces of a body that is not chunked: libcurl reads a socket at most a hundred times
    /// before it lets others go on.
    static let limit = 512

    private var pass: UInt64 = 0
    private var count = 0

    /// - Returns: whether the next piece may be taken in this pass.
    mutating func take(in pass: UInt64) -> Bool {
        if pass != self.pass {
            self.pass = pass
            count = 0
        }
        count += 1
        return count <= Self.limit
    }
}
