/// A setting that inserts a layer between requests and the network. Each conforms to `TransferLayering`.
protocol TransferLayer: Sendable {
    /// The servers that replace those of the network, if any.
    var servers: ServerSet? { get }
}

extension TransferLayer {
    var servers: ServerSet? { nil }
}

/// The layers of an operation, from the first to see a request to the one next to the network.
struct TransferLayers: Sendable {
    /// The kinds of layers, in that order.
    enum Kind: Int {
        case cache, stubs
    }

    /// Sorted by kind.
    private var layers: [(kind: Kind, layer: any TransferLayer)] = []

    /// Whether there are no layers.
    var isEmpty: Bool { layers.isEmpty }

    /// The servers behind the layers.
    var servers: ServerSet {
        for entry in layers {
            if let servers = entry.layer.servers { return servers }
        }
        return .network
    }

    /// The layers, starting with the one next to the network.
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
