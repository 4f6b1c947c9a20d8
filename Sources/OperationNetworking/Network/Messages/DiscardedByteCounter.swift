internal import OperationNetworkingSystem

/// Counts the bytes that libcurl receives and does not deliver: the body of a 401 or 407 that it answers
/// itself, which has to be read to its end because the connection is part of the answer, and a proxy's
/// response to CONNECT.
///
/// Without a limit, a server could block the transfer forever, and a proxy the whole thread: libcurl reads
/// the response to CONNECT byte by byte, while there are any.
struct DiscardedByteCounter {
    /// The maximum length of such a body. More than is received of other unused bodies: an explanatory page
    /// is no reason to fail.
    static let maximumLength: Int64 = 1024 * 1024
    /// The maximum length of a response to CONNECT, with its head. Each byte costs a system call.
    static let maximumTunnelLength: Int64 = 256 * 1024
    /// The maximum seconds in which such a body is received.
    static let timeLimit = 20.0

    private enum Phase {
        case off
        /// Each report is about one byte, or about none.
        case tunnel
        case body(since: MonotonicTime)
    }

    private var phase: Phase
    private var count: Int64 = 0
    private var lastReceived: Int64?

    /// - Parameter usesTunnel: whether the transfer begins with CONNECT.
    init(usesTunnel: Bool) {
        phase = usesTunnel ? .tunnel : .off
    }

    /// Whether reports are needed now.
    var isOn: Bool { if case .off = phase { false } else { true } }

    /// Begins to count the body of a challenge that libcurl answers.
    mutating func begin(now: MonotonicTime) {
        phase = .body(since: now)
        (count, lastReceived) = (0, nil)
    }

    /// Stops counting: later bytes are delivered.
    mutating func end() {
        phase = .off
    }

    /// Handles a progress report from libcurl, with `received` bytes of a body in total.
    /// - Returns: whether bytes arrived; `nil` if there were too many.
    mutating func didProgress(received: Int64, now: MonotonicTime) -> Bool? {
        switch phase {
        case .off:
            return false
        case .tunnel:
            count += 1
            return count > Self.maximumTunnelLength ? nil : false
        case .body(let since):
            // libcurl's count restarts with each response.
            let new = received - min(received, lastReceived ?? received)
            count += new
            lastReceived = received
            return count > Self.maximumLength || now - since > Self.timeLimit ? nil : new > 0
        }
    }
}
