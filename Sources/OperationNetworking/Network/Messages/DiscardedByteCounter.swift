internal import OperationNetworkingSystem

/// Counts what libcurl receives and keeps to itself: the body of a 401 or 407 that it answers itself, which
/// has to be read to its end because the connection is part of the answer, and what a proxy says to CONNECT.
///
/// Without a limit a server could keep the transfer for ever, and a proxy the whole thread: libcurl reads the
/// answer to CONNECT byte by byte, for as long as there are any.
struct DiscardedByteCounter {
    /// Bytes of such a body, at most. Longer than what is received of a body that need not be read: a page
    /// that explains is no reason to fail.
    static let maximumLength: Int64 = 1024 * 1024
    /// Bytes of an answer to CONNECT, with its head, at most. Each costs a system call.
    static let maximumTunnelLength: Int64 = 256 * 1024
    /// Seconds for which such a body may come.
    static let patience = 20.0

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

    /// The body of an answer that libcurl answers begins.
    mutating func begin(now: MonotonicTime) {
        phase = .body(since: now)
        (count, lastReceived) = (0, nil)
    }

    /// Ends the counting: later bytes are seen.
    mutating func end() {
        phase = .off
    }

    /// libcurl reports that something may have come: `received` bytes of a body altogether.
    /// - Returns: whether something has; `nil`: it was too much.
    mutating func didProgress(received: Int64, now: MonotonicTime) -> Bool? {
        switch phase {
        case .off:
            return false
        case .tunnel:
            count += 1
            return count > Self.maximumTunnelLength ? nil : false
        case .body(let since):
            // It counts anew with each response.
            let new = received - min(received, lastReceived ?? received)
            count += new
            lastReceived = received
            return count > Self.maximumLength || now - since > Self.patience ? nil : new > 0
        }
    }
}
