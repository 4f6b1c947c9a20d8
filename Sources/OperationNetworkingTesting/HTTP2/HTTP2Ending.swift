/// The end of a stream of ``HTTP2Server``.
public enum HTTP2Ending: Hashable, Sendable {
    /// `END_STREAM`, after the whole body.
    case whole
    /// `RST_STREAM` with this error code, after `after` bytes. A code of 0 says that there was no error.
    case reset(code: UInt32, after: Int)
    /// `GOAWAY` with this error code, which disowns the stream, and the end of the connection, after
    /// `after` bytes.
    case goAway(code: UInt32, after: Int)
    /// The end of the connection, without a word, after `after` bytes.
    case close(after: Int)
}
