import COperationNetworking

/// A set of libcurl transfers that share connections: a `CURLM *`, driven by sockets; see libcurl-multi(3).
///
/// Used on one thread. libcurl must not be entered again from within one of its callbacks: not from
/// `didChangeSocket`, not from `didMoveTimer`, not from an ``EasyHandleDelegate``.
package final class MultiHandle {
    /// The socket events that libcurl waits for.
    package enum Interest: Sendable {
        case watch(SocketPoller.Events)
        case forget
    }

    private let pointer: OpaquePointer
    private let didChangeSocket: (Int32, Interest) -> Void
    private let didMoveTimer: (_ milliseconds: Int?) -> Void
    /// The last transfer for which libcurl watched a socket, by socket number.
    @exclusivity(unchecked) private var owners: [UnsafeMutableRawPointer?] = []
    private let sockets = ConnectionSockets()
    /// The maximum number of idle connections. If it is lowered, one connection is closed with each transfer
    /// that ends.
    package var maximumIdleConnections: Int {
        didSet { if maximumIdleConnections != oldValue { keepIdleConnections() } }
    }
    /// The number of transfers.
    @exclusivity(unchecked) package private(set) var count = 0

    private var raw: UnsafeMutableRawPointer { UnsafeMutableRawPointer(pointer) }

    /// - Parameters:
    ///   - maximumIdleConnections: the maximum number of idle connections.
    ///   - didChangeSocket: called when libcurl changes the events that it waits for on a socket.
    ///   - didMoveTimer: called with the milliseconds after which to call ``timeOut()``; `nil` to stop the
    ///     timer.
    /// - Throws: if out of memory.
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
        // Remaining handles are removed.
        curl_multi_cleanup(raw)
    }

    /// Adds a prepared transfer, which starts at the next ``timeOut()``; libcurl requests that at once. The
    /// caller retains the handle until it is removed.
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

    /// Removes a transfer, finished or not. Never blocks, not even for name resolution.
    package func remove(_ easy: EasyHandle) {
        guard easy.isRunning else { return }
        easy.dropHeldBytes()
        easy.isRunning = false
        count -= 1
        curl_multi_remove_handle(raw, UnsafeMutableRawPointer(easy.pointer))
        easy.sockets = nil
        keepIdleConnections()
    }

    /// `CURLMOPT_MAXCONNECTS` includes connections in use: a fixed value would disable keep-alive as soon as
    /// that many transfers run.
    private func keepIdleConnections() {
        clibcurl_multi_setopt_long(raw, CURLMOPT_MAXCONNECTS, max(1, count + maximumIdleConnections))
    }

    /// Advances the transfers of a ready socket.
    package func act(on socket: Int32, _ events: SocketPoller.Events) {
        var mask: Int32 = 0
        if events.contains(.readable) { mask |= CURL_CSELECT_IN }
        if events.contains(.writable) { mask |= CURL_CSELECT_OUT }
        if events.contains(.failed) { mask |= CURL_CSELECT_ERR }
        var running: Int32 = 0
        curl_multi_socket_action(raw, socket, mask, &running)
    }

    /// Advances the transfers whose timers have expired.
    package func timeOut() {
        var running: Int32 = 0
        curl_multi_socket_action(raw, -1, 0, &running)
    }

    /// Returns the next finished transfer and its `CURLcode`. It remains until it is removed.
    package func nextFinished() -> (EasyHandle, code: Int32)? {
        var result = CURLE_OK
        guard let pointer = clibcurl_multi_next_finished(raw, &result) else { return nil }
        return EasyHandle.of(pointer).map { ($0, Int32(result.rawValue)) }
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> MultiHandle {
        guard let context else { preconditionFailure("libcurl lost the context of a callback") }
        return Unmanaged<MultiHandle>.fromOpaque(context).takeUnretainedValue()
    }

    /// Returns the kernel's state of the socket that a transfer waits for, if any. libcurl's
    /// CURLINFO_ACTIVESOCKET only covers finished transfers.
    package func socketMovement(of easy: EasyHandle) -> SocketMovement? {
        socket(of: easy).map { SocketMovement(of: $0, isInsideRecord: ctls_is_inside_record(easy.raw)) }
    }

    /// Returns the bytes on that socket that the peer has not acknowledged; 0 if other transfers share it.
    /// `nil` if libcurl no longer watches it, as at the end of a transfer, and it may be closed.
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
