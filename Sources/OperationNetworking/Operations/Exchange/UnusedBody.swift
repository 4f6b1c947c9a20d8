/// The body of a response that no one reads, such as a redirect that is followed, or a 401 that is answered.
///
/// Receiving it to its end keeps the connection for the next request. It is worth that only while it is short
/// and quick; after that the transfer is cut, which costs a connection in HTTP/1.1 and one frame in HTTP/2.
enum UnusedBody {
    /// Bytes of a body, decoded, that are received at most.
    static let maximumLength = 64 * 1024
    /// Seconds after the head for which a body may come.
    static let patience = 1.0
    /// The same for one that the caller gets, because it says why there is no file.
    static let patienceForExplanations = 5.0

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
