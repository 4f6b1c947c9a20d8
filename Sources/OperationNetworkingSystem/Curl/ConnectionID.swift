import Glibc

/// Identifies a connection while it is open.
package struct ConnectionID: Hashable, Sendable {
    let number: UInt64
    /// Whether it uses HTTP/2, so that several transfers can share it.
    package var isShared: Bool

    package init(number: UInt64, isShared: Bool) {
        self.number = number
        self.isShared = isShared
    }

    /// Derived from the addresses and ports of both ends (CURLOPT_PREREQFUNCTION(3)), which no two open
    /// connections share.
    init(
        remote: UnsafePointer<CChar>?,
        local: UnsafePointer<CChar>?,
        remotePort: Int32,
        localPort: Int32,
        isShared: Bool
    ) {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for text in [remote, local] {
            guard var byte = text else { continue }
            while byte.pointee != 0 {
                hash = (hash ^ UInt64(UInt8(bitPattern: byte.pointee))) &* 0x100_0000_01b3
                byte += 1
            }
            hash = (hash ^ 0xff) &* 0x100_0000_01b3
        }
        for port in [remotePort, localPort] {
            hash = (hash ^ UInt64(UInt32(bitPattern: port))) &* 0x100_0000_01b3
        }
        self.init(number: hash, isShared: isShared)
    }
}
