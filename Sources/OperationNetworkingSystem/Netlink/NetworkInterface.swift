/// A network interface of the kernel; see rtnetlink(7).
package struct NetworkInterface: Hashable, Sendable {
    /// The state of [RFC 2863 §3.1.14](https://www.rfc-editor.org/rfc/rfc2863#section-3.1.14), as in
    /// `IFLA_OPERSTATE`.
    package enum OperationalState: UInt8, Sendable, CaseIterable {
        case unknown, notPresent, down, lowerLayerDown, testing, dormant, up
    }

    /// The number by which routes name it.
    package var index: UInt32
    package var name: String
    /// Whether it is administratively enabled: `IFF_UP`.
    package var isEnabled: Bool
    package var isLoopback: Bool
    package var operationalState: OperationalState
    /// The kind of the hardware: one of `ARPHRD_*`.
    package var hardware: UInt16
    /// The driver's name for a kind of virtual device, such as `veth` or `wwan`, if any.
    package var kind: String?

    package init(
        index: UInt32,
        name: String,
        isEnabled: Bool = true,
        isLoopback: Bool = false,
        operationalState: OperationalState = .up,
        hardware: UInt16 = Self.ethernet,
        kind: String? = nil
    ) {
        self.index = index
        self.name = name
        self.isEnabled = isEnabled
        self.isLoopback = isLoopback
        self.operationalState = operationalState
        self.hardware = hardware
        self.kind = kind
    }

    /// `ARPHRD_ETHER`.
    package static let ethernet: UInt16 = 1
    /// `ARPHRD_PPP`.
    package static let pointToPoint: UInt16 = 512
    /// `ARPHRD_RAWIP`: packets without a frame, as used by mobile network modems.
    package static let rawIP: UInt16 = 519
}
