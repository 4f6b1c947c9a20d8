/// A setting that puts something between a request and the network: see `TransferLayering`, which each of
/// them conforms to.
protocol TransferLayer: Sendable {}

/// The layers of an operation, from the one that sees a request first to the one that is nearest to the
/// network.
struct TransferLayers: Sendable {
    /// Kinds of layers, in that order.
    enum Kind: Int, CaseIterable {
        case cache, stubs
    }

    private var layers: [Kind: any TransferLayer] = [:]

    /// Whether requests go to the network as they are.
    var isEmpty: Bool { layers.isEmpty }

    /// The nearest to the network comes first.
    var fromNetwork: [any TransferLayer] { Kind.allCases.reversed().compactMap { layers[$0] } }

    subscript(kind: Kind) -> (any TransferLayer)? {
        get { layers[kind] }
        set { layers[kind] = newValue }
    }
}
