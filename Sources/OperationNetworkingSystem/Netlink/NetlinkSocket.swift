import COperationNetworking
import Glibc

/// A routing netlink socket; see rtnetlink(7). Closed on deallocation. Used on one thread at a time.
package final class NetlinkSocket {
    /// The outcome of a read.
    package enum Reading: Hashable, Sendable {
        case records([NetlinkRecord])
        /// Notifications were lost because they arrived faster than they were read, or one was too long.
        case overrun
        /// There is nothing to read now.
        case nothing
    }

    package let descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: capacity)

    /// Twice the maximum size of the kernel's datagrams.
    private static let capacity = 64 * 1024

    private init(_ descriptor: Int32) throws(SystemError) {
        guard descriptor >= 0 else { throw SystemError(errno, "socket(AF_NETLINK)") }
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Returns a nonblocking socket that receives changes of interfaces, addresses, routes and nexthop
    /// objects.
    package static func changes() throws(SystemError) -> NetlinkSocket {
        try NetlinkSocket(cnetlink_open(CNETLINK_CHANGES, 0))
    }

    /// Returns a socket for requests, which the kernel answers synchronously; a read times out after 5
    /// seconds.
    package static func questions() throws(SystemError) -> NetlinkSocket {
        try NetlinkSocket(cnetlink_open(0, 5))
    }

    package func send(_ bytes: [UInt8]) throws(SystemError) {
        guard cnetlink_send(descriptor, bytes, bytes.count) == bytes.count else {
            throw SystemError(errno, "sendto(AF_NETLINK)")
        }
    }

    /// Returns the next datagram. Datagrams that are not from the kernel are ignored.
    package func receive() throws(SystemError) -> Reading {
        while true {
            var sender: UInt32 = 0
            let length = cnetlink_receive(descriptor, &buffer, buffer.count, &sender)
            guard length >= 0 else {
                switch errno {
                case EAGAIN: return .nothing
                case ENOBUFS: return .overrun
                case let code: throw SystemError(code, "recvfrom(AF_NETLINK)")
                }
            }
            guard sender == 0 else { continue }
            guard length <= buffer.count else { return .overrun }
            return .records(NetlinkParser.records(in: Array(buffer[..<length])))
        }
    }
}
