internal import OperationNetworkingSystem

/// The transfers of one trust domain, their connections, and handles to use again. Used on the network thread.
final class TransferDomain {
    /// Idle handles to keep; making one costs about as much as a small request.
    private static let maximumIdleHandles = 256

    private let multi: MultiHandle
    private let timer: Timer
    private var idleHandles: [EasyHandle] = []
    /// Idle handles that libcurl has left a buffer of its default size: good for anything but a file, which would be read
    /// in small pieces.
    private var idleHandlesWithBuffer: [EasyHandle] = []
    /// What its proxy is known to demand; means nothing without a proxy that has credentials.
    private(set) var demand = ProxyDemand.unknown

    init(
        clock: PassClock,
        maximumIdleConnections: Int,
        didChangeSocket: @escaping (Int32, MultiHandle.Interest) -> Void
    ) throws(CurlError) {
        let timer = Timer()
        self.timer = timer
        multi = try MultiHandle(
            maximumIdleConnections: maximumIdleConnections,
            didChangeSocket: didChangeSocket,
            didMoveTimer: { milliseconds in
                timer.deadline = milliseconds.map { clock.now + Double($0) / 1000 }
            }
        )
    }

    /// How many connections are kept for later.
    var maximumIdleConnections: Int {
        get { multi.maximumIdleConnections }
        set { multi.maximumIdleConnections = newValue }
    }

    /// When libcurl wants ``timeOut()``; `nil`: not for now.
    var deadline: MonotonicTime? { timer.deadline }

    /// A handle to prepare for a transfer of that version: a used one if there is one that fits.
    func takeHandle(for version: TransferOptions.HTTPVersion) throws(CurlError) -> EasyHandle {
        if version != .http1, let handle = idleHandlesWithBuffer.popLast() { return handle }
        if let handle = idleHandles.popLast() { return handle }
        return try EasyHandle()
    }

    func add(_ easy: EasyHandle) throws(CurlError) {
        try multi.add(easy)
    }

    /// Ends the handle's transfer, whether or not it has finished.
    ///
    /// A handle is kept for another one only if its transfer ended well. `curl_easy_reset` of libcurl 7.88 forgets not
    /// everything: `Authorization` and `Proxy-Authorization` that were made for a request, and were not sent, would go out
    /// with the next one, whoever that is for.
    func remove(_ easy: EasyHandle, endedWell: Bool) {
        multi.remove(easy)
        // Also for one that is not kept: it and its delegate hold each other.
        easy.reset()
        guard endedWell, easy.isReusable else { return }
        guard idleHandles.count + idleHandlesWithBuffer.count < Self.maximumIdleHandles else { return }
        if easy.keepsBuffer { idleHandlesWithBuffer.append(easy) } else { idleHandles.append(easy) }
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
