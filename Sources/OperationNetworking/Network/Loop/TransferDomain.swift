internal import OperationNetworkingSystem

/// The transfers of one trust domain, with their connections and TLS sessions. Used on the network thread.
final class TransferDomain {
    private let multi: MultiHandle
    private let sessions: TLSSessions
    private let timer: Timer
    /// Handles that can be reused.
    private var resting: [EasyHandle] = []
    /// About as many as end in a pass. Each takes 7 KB.
    private static let mostResting = 64
    /// What is known about its proxy's demand for credentials; meaningless without a proxy that has
    /// credentials.
    private(set) var demand = ProxyDemand.unknown

    init(
        clock: PassClock,
        maximumIdleConnections: Int,
        didChangeSocket: @escaping (Int32, MultiHandle.Interest) -> Void
    ) throws(CurlError) {
        let timer = Timer()
        self.timer = timer
        sessions = try TLSSessions()
        multi = try MultiHandle(
            maximumIdleConnections: maximumIdleConnections,
            didChangeSocket: didChangeSocket,
            didMoveTimer: { milliseconds in
                timer.deadline = milliseconds.map { clock.now + Double($0) / 1000 }
            }
        )
    }

    /// The number of idle connections to keep.
    var maximumIdleConnections: Int {
        get { multi.maximumIdleConnections }
        set { multi.maximumIdleConnections = newValue }
    }

    /// The time at which libcurl wants ``timeOut(now:)``; `nil` if there is none.
    var deadline: MonotonicTime? { timer.deadline }

    /// Returns a handle to prepare for these options.
    func handle(for options: TransferOptions) throws(CurlError) -> EasyHandle {
        // A handle that suits only other options is discarded to make room.
        if let easy = resting.popLast(), easy.serves(options) { return easy }
        return try EasyHandle(sessions: sessions)
    }

    /// Keeps the removed handle of a successful transfer for reuse, if possible.
    func takeBack(_ easy: EasyHandle) {
        guard resting.count < Self.mostResting, easy.leavesNothing else { return }
        easy.releaseTransferState()
        resting.append(easy)
    }

    func add(_ easy: EasyHandle) throws(CurlError) {
        try multi.add(easy)
    }

    /// Ends the handle's transfer, whether or not it has finished.
    func remove(_ easy: EasyHandle) {
        multi.remove(easy)
        easy.releaseDelegate()
    }

    /// Records what a transfer has shown about the proxy.
    func learn(_ evidence: ProxyDemand.Evidence) {
        demand = demand.after(evidence)
    }

    /// See ``MultiHandle/socketMovement(of:)``.
    func socketMovement(of easy: EasyHandle) -> SocketMovement? { multi.socketMovement(of: easy) }

    /// See ``MultiHandle/unacknowledged(of:)``.
    func unacknowledged(of easy: EasyHandle) -> Int? { multi.unacknowledged(of: easy) }

    func act(on socket: Int32, _ events: SocketPoller.Events) {
        multi.act(on: socket, events)
    }

    /// Calls libcurl if its deadline has passed.
    func timeOut(now: MonotonicTime) {
        guard let deadline = timer.deadline, deadline <= now else { return }
        timer.deadline = nil
        multi.timeOut()
    }

    func nextFinished() -> (EasyHandle, code: Int32)? {
        multi.nextFinished()
    }

    /// Set by a libcurl callback. A class, so that the callback needs nothing else of the domain.
    private final class Timer {
        var deadline: MonotonicTime?
    }
}
