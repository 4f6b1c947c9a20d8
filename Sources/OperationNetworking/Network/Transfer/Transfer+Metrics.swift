import Foundation
internal import OperationNetworkingSystem

extension Transfer {
    /// The transfer's cost until now, with earlier tries.
    var metrics: TransferMetrics {
        var sum = context.spent
        sum.add(ownMetrics)
        return sum
    }

    private var ownMetrics: TransferMetrics {
        var metrics = TransferMetrics(easy, hasConnection: connection.isThere)
        metrics.url = request.url
        metrics.bytesReceived = incoming?.received ?? 0
        metrics.bytesDecoded = incoming?.decoded ?? 0
        metrics.bytesSent = outgoing.bytesSent
        switch incoming?.endProof {
        case .nothing: metrics.isEndProven = false
        case .trailers: metrics.isEndProven = heads.reader.hasTrailers
        case .coding: metrics.isEndProven = metrics.bytesReceived > 0
        case nil, .length, .chunks, .closeNotify: metrics.isEndProven = true
        }
        return metrics
    }
}
