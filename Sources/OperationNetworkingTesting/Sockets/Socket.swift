internal import Foundation

/// An open socket. One thread uses and closes it; other threads may interrupt it.
final class Socket: @unchecked Sendable {
    // @unchecked: `isOpen` is only accessed while `lock` is held. `descriptor` never changes, and is not used
    // after close(): by contract on the closing thread, and in shutDown() because it checks `isOpen` under
    // the lock.

    /// The event that ended ``waitForHangUp(limit:or:)``.
    enum WakeReason {
        case hangUp, call, limit
    }

    let descriptor: Int32
    private let lock = NSLock()
    private var isOpen = true

    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit { close() }

    // MARK: - From any thread

    /// Shuts down both directions: calls in which the socket's thread blocks return at once.
    func shutDown() {
        lock.lock()
        defer { lock.unlock() }
        if isOpen { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
    }

    // MARK: - From the socket's own thread

    /// Reads available bytes; blocks until there is at least one. Returns 0 at the end, or if the connection
    /// has failed.
    func receive(into buffer: UnsafeMutableRawBufferPointer, flags: Int32 = 0) -> Int {
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, flags)
            if count >= 0 { return count }
            if errno != EINTR { return 0 }
        }
    }

    /// Writes all of `bytes`; blocks while the client does not read. Returns how many bytes the kernel
    /// accepted: fewer if the connection has failed.
    func send(_ bytes: UnsafeRawBufferPointer) -> Int {
        var sent = 0
        while sent < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
            // MSG_NOSIGNAL: a disconnected client must not kill the process with SIGPIPE.
            let count = Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            if count >= 0 { sent += count } else if errno != EINTR { break }
        }
        return sent
    }

    /// Waits until the client closes its side, the connection fails, `alarm` is called, or the limit is
    /// reached.
    func waitForHangUp(limit: Duration? = nil, or alarm: WakeUpCall? = nil) -> WakeReason {
        // POLLRDHUP, which the Glibc module does not declare: the peer has closed its sending side.
        let hangUp: Int16 = 0x2000
        var entries = [pollfd(fd: descriptor, events: hangUp, revents: 0)]
        if let alarm { entries.append(pollfd(fd: alarm.descriptor, events: Int16(POLLIN), revents: 0)) }
        let milliseconds = limit.map { Int32(($0.inSeconds * 1000).rounded(.up)) } ?? -1
        while true {
            let count = poll(&entries, nfds_t(entries.count), milliseconds)
            if count == 0 { return .limit }
            if count < 0, errno == EINTR { continue }
            if entries.count > 1, entries[1].revents != 0 { return .call }
            return .hangUp
        }
    }

    /// Ends the sending direction and discards incoming bytes: closing a socket with unread bytes resets the
    /// connection, and the client may lose bytes that it has not read.
    ///
    /// - Parameter isClientTalking: whether to wait for the client to end, up to two seconds per read;
    ///   otherwise only received bytes are discarded.
    func finish(isClientTalking: Bool) {
        _ = shutdown(descriptor, Int32(SHUT_WR))
        if isClientTalking { set(SOL_SOCKET, SO_RCVTIMEO, timeval(tv_sec: 2, tv_usec: 0)) }
        let flags = isClientTalking ? 0 : Int32(MSG_DONTWAIT)
        withUnsafeTemporaryAllocation(byteCount: 16384, alignment: 1) { buffer in
            while receive(into: buffer, flags: flags) > 0 {}
        }
    }

    /// Makes the kernel reset the connection when the socket is closed.
    func resetOnClose() {
        set(SOL_SOCKET, SO_LINGER, linger(l_onoff: 1, l_linger: 0))
    }

    /// Sends small answers without delay.
    func disableDelay() {
        set(Int32(IPPROTO_TCP), TCP_NODELAY, Int32(1))
    }

    /// The number of bytes from ``send(_:)`` that the kernel has not transmitted: it still buffers them, or
    /// discarded them when the connection failed. 0 if unknown.
    var unsentCount: Int {
        // SIOCOUTQNSD of linux/sockios.h, which the Glibc module does not declare.
        let request: UInt = 0x894B
        var count: Int32 = 0
        return ioctl(descriptor, request, &count) == 0 ? max(0, Int(count)) : 0
    }

    /// Limits the kernel's send buffer to `count` bytes, which the kernel doubles.
    func limitSendBuffer(to count: Int) {
        set(SOL_SOCKET, SO_SNDBUF, Int32(count))
    }

    /// Allows binding to a port with connections in TIME_WAIT.
    func reuseAddress() {
        set(SOL_SOCKET, SO_REUSEADDR, Int32(1))
    }

    /// Closes the socket; closing it again does nothing.
    func close() {
        lock.lock()
        defer { lock.unlock() }
        guard isOpen else { return }
        isOpen = false
        _ = Glibc.close(descriptor)
    }

    private func set<Value>(_ level: Int32, _ option: Int32, _ value: Value) {
        withUnsafeBytes(of: value) {
            _ = setsockopt(descriptor, level, option, $0.baseAddress, socklen_t($0.count))
        }
    }
}
