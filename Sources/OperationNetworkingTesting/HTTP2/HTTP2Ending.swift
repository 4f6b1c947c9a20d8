/// The end of a stream of ``HTTP2Server``.
public enum HTTP2Ending: Hashable, Sendable {
    /// `END_STREAM`, after the whole body.
    case whole
    /// `RST_STREAM` with this error code, after `after` bytes. A code of 0 means no error.
    case reset(code: UInt32, after: Int)
    /// `GOAWAY` with this error code, which does not acknowledge the stream, and the end of the connection,
    /// after `after` bytes.
    case goAway(code: UInt32, after: Int)
    /// The end of the connection without any frame, after `after` bytes.
    case close(after: Int)
}
