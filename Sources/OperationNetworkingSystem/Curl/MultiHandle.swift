import COperationNetworking

/// Many transfers of libcurl that share connections: a `CURLM *`, driven by sockets; see libcurl-multi(3).
///
/// Used on one thread. libcurl must not be entered again from within one of its callbacks: not from
/// `didChangeSocket`, not from `didMoveTimer`, not from an ``EasyHandleDelegate``.
package final class MultiHandle {
    /// The events of a socket that libcurl waits for.
    package enum Interest: Sendable {
        case watch(SocketPoller.Events)
        case forget
    }

    private let pointer: OpaquePointer
    private let didChangeSocket: (Int32, Interest) -> Void
    private let didMoveTimer: (_ milliseconds: Int?) -> Void
    /// The transfer for which libcurl last wanted a socket watched, by number of the socket.
    private var owners: [UnsafeMutableRawPointer?] = []
    private let sockets = ConnectionSockets()
    /// The number of idle connections to keep. A lower number than there are closes one with each transfer
    /// that ends.
    package var maximumIdleConnections: Int {
        didSet { if maximumIdleConnections != oldValue { keepIdleConnections() } }
    }
    /// The number of transfers in it.
    package private(set) var count = 0

    private var raw: UnsafeMutableRawPointer { UnsafeMutableRawPointer(pointer) }

    /// - Parameters:
    ///   - maximumIdleConnections: how many connections are kept for later.
    ///   - didChangeSocket: called when libcurl wants a socket watched for something else.
    ///   - didMoveTimer: called with the milliseconds after which libcurl wants ``timeOut()``; `nil`: no
    ///     more.
    /// - Throws: when there is no memory.
    package init(
        maximumIdleConnections: Int,
        didChangeSocket: @escaping (Int32, Interest) -> Void,
        didMoveTimer: @escaping (_ milliseconds: Int?) -> Void
    ) throws(CurlError) {
        CurlLibrary.initialize()
        guard let made = curl_multi_init() else { throw CurlError(code: Int32(CURLE_OUT_OF_MEMORY.rawValue)) }
        pointer = OpaquePointer(made)
        self.maximumIdleConnections = maximumIdleConnections
        self.didChangeSocket = didChangeSocket
        self.didMoveTimer = didMoveTimer
        let context = Unmanaged.passUnretained(self).toOpaque()
        clibcurl_multi_setopt_pointer(made, CURLMOPT_SOCKETDATA, context)
        clibcurl_multi_setopt_socket_callback(made) { easy, socket, what, context, _ in
            MultiHandle.from(context).didChange(socket, of: easy, what)
            return 0
        }
        clibcurl_multi_setopt_pointer(made, CURLMOPT_TIMERDATA, context)
        clibcurl_multi_setopt_timer_callback(made) { _, milliseconds, context in
            MultiHandle.from(context).didMoveTimer(milliseconds < 0 ? nil : milliseconds)
            return 0
        }
        keepIdleConnections()
    }

    deinit {
        // Handles that are still in it are let go of.
        curl_multi_cleanup(raw)
    }

    /// Starts a prepared transfer; it moves at the next ``timeOut()``, which libcurl asks for at once. The
    /// caller keeps the handle until it is removed.
    package func add(_ easy: EasyHandle) throws(CurlError) {
        let code = curl_multi_add_handle(raw, UnsafeMutableRawPointer(easy.pointer))
        guard code == CURLM_OK else {
            throw CurlError(code: Int32(CURLE_FAILED_INIT.rawValue), message: text(code))
        }
        easy.isRunning = true
        easy.sockets = sockets
        count += 1
        keepIdleConnections()
    }

    /// Ends a transfer, finished or not. Never waits, not even for a name look-up.
    package func remove(_ easy: EasyHandle) {
        guard easy.isRunning else { return }
        easy.dropHeldBytes()
        easy.isRunning = false
        count -= 1
        curl_multi_remove_handle(raw, UnsafeMutableRawPointer(easy.pointer))
        easy.sockets = nil
        keepIdleConnections()
    }

    /// `CURLMOPT_MAXCONNECTS` counts connections in use, too: fixed, it would turn keep-alive off as soon as
    /// as many transfers run.
    private func keepIdleConnections() {
        clibcurl_multi_setopt_long(raw, CURLMOPT_MAXCONNECTS, max(1, count + maximumIdleConnections))
    }

    /// Moves the transfers of a socket that is ready.
    package func act(on socket: Int32, _ events: SocketPoller.Events) {
        var mask: Int32 = 0
        if events.contains(.readable) { mask |= CURL_CSELECT_IN }
        if events.contains(.writable) { mask |= CURL_CSELECT_OUT }
        if events.contains(.failed) { mask |= CURL_CSELECT_ERR }
        var running: Int32 = 0
        curl_multi_socket_action(raw, socket, mask, &running)
    }

    /// Moves the transfers whose time has come.
    package func timeOut() {
        var running: Int32 = 0
        curl_multi_socket_action(raw, -1, 0, &running)
    }

    /// The next transfer that has ended by itself, with its `CURLcode`. It stays in until removed.
    package func nextFinished() -> (EasyHandle, code: Int32)? {
        var result = CURLE_OK
        guard let pointer = clibcurl_multi_next_finished(raw, &result) else { return nil }
        return EasyHandle.of(pointer).map { ($0, Int32(result.rawValue)) }
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> MultiHandle {
        guard let context else { preconditionFailure("libcurl lost the context of a callback") }
        return Unmanaged<MultiHandle>.fromOpaque(context).takeUnretainedValue()
    }

    /// The kernel's knowledge of the socket that a transfer waits for; `nil`: it waits for none. libcurl's
    /// CURLINFO_ACTIVESOCKET knows only those of transfers that have ended.
    package func socketMovement(of easy: EasyHandle) -> SocketMovement? {
        socket(of: easy).map { SocketMovement(of: $0, isInsideRecord: ctls_is_inside_record(easy.raw)) }
    }

    /// The bytes on that socket that the other side has not acknowledged; 0 if it is that of other transfers,
    /// too, and theirs. `nil`: libcurl has let go of it, as at the end of a transfer, and it may be closed.
    package func unacknowledged(of easy: EasyHandle) -> Int? {
        if let socket = socket(of: easy) { return SocketMovement.unacknowledged(of: socket) }
        let last = Int(easy.trace.watchedSocket)
        return owners.indices.contains(last) && owners[last] == nil ? nil : 0
    }

    private func socket(of easy: EasyHandle) -> Int32? {
        let socket = Int(easy.trace.watchedSocket)
        guard owners.indices.contains(socket), owners[socket] == easy.raw else { return nil }
        return easy.trace.watchedSocket
    }

    private func didChange(_ socket: Int32, of easy: UnsafeMutableRawPointer?, _ what: Int32) {
        note(what == CURL_POLL_REMOVE ? nil : easy, for: Int(socket))
        switch what {
        case CURL_POLL_IN: didChangeSocket(socket, .watch(.readable))
        case CURL_POLL_OUT: didChangeSocket(socket, .watch(.writable))
        case CURL_POLL_INOUT: didChangeSocket(socket, .watch([.readable, .writable]))
        case CURL_POLL_REMOVE: didChangeSocket(socket, .forget)
        default: break
        }
    }

    private func note(_ owner: UnsafeMutableRawPointer?, for socket: Int) {
        guard socket >= 0 else { return }
        if let owner { EasyHandle.of(owner)?.trace.watchedSocket = Int32(socket) }
        if owners.count <= socket {
            owners.append(contentsOf: repeatElement(nil, count: socket + 1 - owners.count))
        }
        owners[socket] = owner
    }

    private func text(_ code: CURLMcode) -> String {
        curl_multi_strerror(code).map { String(cString: $0) } ?? "multi error \(code.rawValue)"
    }
}
