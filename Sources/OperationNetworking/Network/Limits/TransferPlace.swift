import Foundation
internal import OperationNetworkingSystem

/// The place of a transfer: its server, and the trust domain in which it may share a connection.
struct TransferPlace: Hashable, Sendable {
    /// Transfers with different limits are counted separately.
    var limit: ConnectionLimit
    var origin: Origin
    /// Transfers of the same domain may share an HTTP/2 connection; `nil` if the transfer needs a separate
    /// one.
    var sharing: TrustDomain?

    init(_ request: borrowing TransferRequest) {
        limit = request.shared.value.connectionLimit
        origin = request.origin
        let mayShare =
            switch request.version {
            case .automatic, .http2: origin.isTLS && request.trustDomain.transfer == nil
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

/// A place in the line for a transfer that has no request yet.
struct Reservation {
    var id: TransferID
    var place: TransferPlace
    var priority: TransferPriority
    /// As in ``TransferRequest``.
    var raisedConnectionLimit: Int
}
