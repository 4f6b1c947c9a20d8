/// A network interface of the kernel; see rtnetlink(7).
package struct NetworkInterface: Hashable, Sendable {
    /// The number by which routes name it.
    package var index: UInt32
    package var name: String
    /// Whether packets leave by it: an administrator switched it on, and its operational state
    /// ([RFC 2863 §3.1.14](https://www.rfc-editor.org/rfc/rfc2863#section-3.1.14)) is up, or unknown, as that of
    /// devices that never report it, such as tun and the loopback.
    package var isUp: Bool
    package var isLoopback: Bool
    /// Whether its hardware is that of a mobile network, as far as the kernel reports it.
    ///
    /// | Interface                                                               | WWAN | Determined by          |
    /// |-------------------------------------------------------------------------|------|------------------------|
    /// | a modem of a mobile network whose packets have no frame                 | yes  | `ARPHRD_RAWIP`         |
    /// | a PPP link, which may be DSL                                            | yes  | `ARPHRD_PPP`           |
    /// | a modem that its driver presents as Ethernet; a phone on USB, Bluetooth | no   | `ARPHRD_ETHER`         |
    /// | what a tunnel or VPN uses; a metered network                            | no   | the kernel cannot tell |
    ///
    /// Names of interfaces and drivers are not used: an administrator may choose the former, and the latter are in
    /// `/sys`, which in a container belongs to another network namespace.
    package var isWWAN: Bool

    package init(
        index: UInt32,
        name: String,
        isUp: Bool = true,
        isLoopback: Bool = false,
        isWWAN: Bool = false
    ) {
        self.index = index
        self.name = name
        self.isUp = isUp
        self.isLoopback = isLoopback
        self.isWWAN = isWWAN
    }
}
