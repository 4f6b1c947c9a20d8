internal import OperationNetworkingSystem

/// The transfers of one trust domain, with their connections and TLS sessions. Used on the network thread.
final class TransferDomain {
    private let multi: MultiHandle
    private let sessions: TLSSessions
    private let timer: Timer
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

    /// A handle to prepare for one transfer.
    func makeHandle() throws(CurlError) -> EasyHandle {
        try EasyHandle(sessions: sessions)
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
