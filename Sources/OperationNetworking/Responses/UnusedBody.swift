/// The body of a response that no sink gets, such as that of a redirect that is followed, or of a 404.
///
/// Receiving it to its end keeps the connection for the next request. It is worth that only while it is short
/// and quick; after that the transfer is cut, which costs a connection in HTTP/1.1 and one frame in HTTP/2.
enum UnusedBody: Hashable {
    /// Another request follows.
    case discarded
    /// The caller gets it: it says why there is nothing for the sink.
    case explanation

    /// Bytes of a body, decoded, that are received at most before another request.
    static let maximumLength = 64 * 1024

    /// Seconds for which the body may come, after the head, or after the owner's answer to it.
    var patience: Double {
        switch self {
        case .discarded: 1
        case .explanation: 5
        }
    }

    /// Whether the transfer goes on after the head. One whose body lasts until its connection closes ends at
    /// the head: there is no connection to keep.
    static func isWorthReceiving(_ length: MessageLength) -> Bool {
        switch length {
        case .none, .delimited: true
        case .exactly(let count): count <= maximumLength
        case .untilClose: false
        }
    }
}
