internal import OperationNetworkingSystem

/// The transfers of one trust domain, with their connections and TLS sessions. Used on the network thread.
final class TransferDomain {
    private let multi: MultiHandle
    private let sessions: TLSSessions
    private let timer: Timer
    /// Handles that may do another transfer.
    private var resting: [EasyHandle] = []
    /// As many as end in a pass, mostly. Each takes 7 KB.
    private static let mostResting = 64
    /// The known demand of its proxy; means nothing without a proxy that has credentials.
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

    /// The time at which libcurl wants ``timeOut()``; `nil`: not for now.
    var deadline: MonotonicTime? { timer.deadline }

    /// A handle to prepare for these options.
    func handle(for options: TransferOptions) throws(CurlError) -> EasyHandle {
        // One that is good for others only makes room for those that are wanted now.
        if let easy = resting.popLast(), easy.serves(options) { return easy }
        return try EasyHandle(sessions: sessions)
    }

    /// Keeps the handle of a transfer that has succeeded, and was removed, for another one, if it can be.
    func takeBack(_ easy: EasyHandle) {
        guard resting.count < Self.mostResting, easy.leavesNothing else { return }
        easy.rest()
        resting.append(easy)
    }

    func add(_ easy: EasyHandle) throws(CurlError) {
        try multi.add(easy)
    }

    /// Ends the handle's transfer, whether or not it has finished.
    func remove(_ easy: EasyHandle) {
        multi.remove(easy)
        easy.letGo()
    }

    /// A transfer that ended has shown this of the proxy.
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

    /// Calls libcurl if it wanted to be called by now.
    func timeOut(now: MonotonicTime) {
        guard let deadline = timer.deadline, deadline <= now else { return }
        timer.deadline = nil
        multi.timeOut()
    }

    func nextFinished() -> (EasyHandle, code: Int32)? {
        multi.nextFinished()
    }

    /// Set by libcurl from within; an object, so that the callback needs nothing else of the domain.
    private final class Timer {
        var deadline: MonotonicTime?
    }
}
