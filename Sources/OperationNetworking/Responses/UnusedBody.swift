/// The body of a response that no sink receives, such as that of a redirect or of a 404.
///
/// Receiving it to its end keeps the connection for the next request. That is only worthwhile if it is short
/// and arrives quickly. Otherwise the transfer is aborted, which costs a connection in HTTP/1.1 and a frame
/// in HTTP/2.
enum UnusedBody: Hashable {
    /// Another request follows.
    case discarded
    /// The caller receives the body, which explains why the sink receives nothing.
    case explanation

    /// The maximum number of decoded bytes that are received before another request.
    static let maximumLength = 64 * 1024

    /// How long the body may take, in seconds, after the head or after the client's answer to it.
    var timeLimit: Double {
        switch self {
        case .discarded: 1
        case .explanation: 5
        }
    }

    /// Whether the body should be received. If it ends with the connection, it should not, because the
    /// connection cannot be reused.
    static func isWorthReceiving(_ length: MessageLength) -> Bool {
        switch length {
        case .none, .delimited: true
        case .exactly(let count): count <= maximumLength
        case .untilClose: false
        }
    }
}
