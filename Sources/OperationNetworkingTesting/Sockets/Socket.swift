internal import Foundation

/// An open socket. One thread uses and closes it; any other may interrupt it.
final class Socket: @unchecked Sendable {
    // @unchecked: `isOpen` is only touched while `lock` is held. `descriptor` never changes, and is not used
    // after close(): the closing thread by contract, shutDown() because it tests `isOpen` under the lock.

    /// The event that ended ``waitForHangUp(limit:or:)``.
    enum Wakening {
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

    /// Ends both directions: whatever the socket's thread waits for in the kernel returns at once.
    func shutDown() {
        lock.lock()
        defer { lock.unlock() }
        if isOpen { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
    }

    // MARK: - From the socket's own thread

    /// Reads what there is, waiting for a first byte; 0 at the end, and when the connection has failed.
    func receive(into buffer: UnsafeMutableRawBufferPointer, flags: Int32 = 0) -> Int {
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, flags)
            if count >= 0 { return count }
            if errno != EINTR { return 0 }
        }
    }

    /// Writes all of `bytes`, waiting while the client does not read. Returns how many bytes the kernel took:
    /// fewer when the connection has failed.
    func send(_ bytes: UnsafeRawBufferPointer) -> Int {
        var sent = 0
        while sent < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
            // MSG_NOSIGNAL: a client that went away must not kill the process with SIGPIPE.
            let count = Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            if count >= 0 { sent += count } else if errno != EINTR { break }
        }
        return sent
    }

    /// Waits until the client has closed its side or the connection has failed, or for a call, or for the
    /// limit.
    func waitForHangUp(limit: Duration? = nil, or alarm: WakeUpCall? = nil) -> Wakening {
        // POLLRDHUP, which the Glibc module does not show: the peer has closed its sending side.
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

    /// Tells the client that nothing more comes, and throws away what it still has to say: a socket that is
    /// closed with unread bytes resets the connection, and the client may lose what it had not read yet.
    ///
    /// - Parameter isClientTalking: Whether to wait for the client's end, up to two seconds a time; otherwise
    ///   only takes the bytes that have arrived.
    func finish(isClientTalking: Bool) {
        _ = shutdown(descriptor, Int32(SHUT_WR))
        if isClientTalking { set(SOL_SOCKET, SO_RCVTIMEO, timeval(tv_sec: 2, tv_usec: 0)) }
        let flags = isClientTalking ? 0 : Int32(MSG_DONTWAIT)
        withUnsafeTemporaryAllocation(byteCount: 16384, alignment: 1) { buffer in
            while receive(into: buffer, flags: flags) > 0 {}
        }
    }

    /// Has the kernel reset the connection when the socket is closed.
    func resetOnClose() {
        set(SOL_SOCKET, SO_LINGER, linger(l_onoff: 1, l_linger: 0))
    }

    /// Sends small answers at once.
    func disableDelay() {
        set(Int32(IPPROTO_TCP), TCP_NODELAY, Int32(1))
    }

    /// The number of bytes taken by ``send(_:)`` that the kernel has not put on the wire: it still holds
    /// them, or threw them away when the connection failed. 0 where the kernel does not tell.
    var unsentCount: Int {
        // SIOCOUTQNSD of linux/sockios.h, which the Glibc module does not show.
        let request: UInt = 0x894B
        var count: Int32 = 0
        return ioctl(descriptor, request, &count) == 0 ? max(0, Int(count)) : 0
    }

    /// Limits the kernel's send buffer to `count` bytes (twice as many, in fact).
    func limitSendBuffer(to count: Int) {
        set(SOL_SOCKET, SO_SNDBUF, Int32(count))
    }

    /// Lets the socket be bound to a port on which connections still wait for their end.
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
