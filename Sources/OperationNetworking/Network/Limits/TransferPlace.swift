import Foundation
internal import OperationNetworkingSystem

/// What a transfer that needs a connection of its own says before it knows what to ask.
struct TurnRequest: Sendable {
    var place: TransferPlace
    var priority: TransferPriority
    /// As in ``TransferRequest``.
    var raisedConnectionLimit: Int
}

/// Where a transfer wants to go, and with whom it may share a connection.
struct TransferPlace: Hashable, Sendable {
    /// Transfers of different limits are counted apart.
    var limit: ConnectionLimit
    var origin: Origin
    /// Transfers of the same domain may share a connection of HTTP/2; `nil`: the transfer needs one of its
    /// own.
    var sharing: TrustDomain?

    init(_ request: TransferRequest) {
        limit = request.connectionLimit
        origin = OperationNetworking.Origin(request.url)
        let mayShare =
            switch request.version {
            case .automatic, .http2: origin.scheme == "https" && request.trustDomain.transfer == nil
            case .http2PriorKnowledge: true
            case .http1: false
            }
        sharing = mayShare ? request.trustDomain : nil
    }

    init(limit: ConnectionLimit, origin: Origin, sharing: TrustDomain? = nil) {
        self.limit = limit
        self.origin = origin
        self.sharing = sharing
    }
}
