internal import Foundation

/// Wakes a thread that is waiting in `poll`.
final class WakeUpCall: Sendable {
    /// The descriptor that the thread polls for reading.
    let descriptor: Int32
    private let sender: Int32

    init() throws(SocketError) {
        var pair: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &pair) == 0 else { throw SocketError("socketpair") }
        (descriptor, sender) = (pair[0], pair[1])
    }

    deinit {
        close(descriptor)
        close(sender)
    }

    /// Wakes the thread now or the next time it waits. Callable from any thread.
    func call() {
        var byte: UInt8 = 1
        _ = send(sender, &byte, 1, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    }
}
