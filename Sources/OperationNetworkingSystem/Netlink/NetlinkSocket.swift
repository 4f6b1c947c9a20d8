import COperationNetworking
import Glibc

/// A socket to the kernel's routing; see rtnetlink(7). Closed with this object. Used on one thread at a time.
package final class NetlinkSocket {
    /// The outcome of a read.
    package enum Reading: Hashable, Sendable {
        case records([NetlinkRecord])
        /// Changes were lost, since they came faster than they were read, or one was too long.
        case overrun
        /// There is nothing now.
        case nothing
    }

    package let descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: capacity)

    /// The kernel's datagrams have at most half of it.
    private static let capacity = 64 * 1024

    private init(_ descriptor: Int32) throws(SystemError) {
        guard descriptor >= 0 else { throw SystemError(errno, "socket(AF_NETLINK)") }
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// A socket that is told of changes of interfaces, addresses, routes and nexthop objects. It never waits.
    package static func changes() throws(SystemError) -> NetlinkSocket {
        try NetlinkSocket(cnetlink_open(CNETLINK_CHANGES, 0))
    }

    /// A socket for questions. The kernel answers within the call; a read gives up after 5 seconds.
    package static func questions() throws(SystemError) -> NetlinkSocket {
        try NetlinkSocket(cnetlink_open(0, 5))
    }

    package func send(_ bytes: [UInt8]) throws(SystemError) {
        guard cnetlink_send(descriptor, bytes, bytes.count) == bytes.count else {
            throw SystemError(errno, "sendto(AF_NETLINK)")
        }
    }

    /// The next datagram. One that does not come from the kernel is passed over.
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
