/// A setting that puts something between a request and the network: see `TransferLayering`, which each of
/// them conforms to.
protocol TransferLayer: Sendable {
    /// The servers that it puts in the place of the network's; `nil`: none.
    var servers: ServerSet? { get }
}

extension TransferLayer {
    var servers: ServerSet? { nil }
}

/// The layers of an operation, from the one that sees a request first to the one that is nearest to the
/// network.
struct TransferLayers: Sendable {
    /// Kinds of layers, in that order.
    enum Kind: Int {
        case cache, stubs
    }

    /// In the order of their kinds.
    private var layers: [(kind: Kind, layer: any TransferLayer)] = []

    /// Whether requests go to the network as they are.
    var isEmpty: Bool { layers.isEmpty }

    /// The servers behind them.
    var servers: ServerSet {
        for entry in layers {
            if let servers = entry.layer.servers { return servers }
        }
        return .network
    }

    /// The nearest to the network comes first.
    var fromNetwork: [any TransferLayer] { layers.reversed().map(\.layer) }

    subscript(kind: Kind) -> (any TransferLayer)? {
        get { layers.first { $0.kind == kind }?.layer }
        set {
            layers.removeAll { $0.kind == kind }
            guard let newValue else { return }
            let place = layers.firstIndex { $0.kind.rawValue > kind.rawValue } ?? layers.endIndex
            layers.insert((kind, newValue), at: place)
        }
    }
}
