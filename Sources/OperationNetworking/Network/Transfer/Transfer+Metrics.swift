import Foundation
internal import OperationNetworkingSystem

extension Transfer {
    /// What it cost until now, with earlier tries.
    var metrics: TransferMetrics {
        var sum = spent
        sum.add(ownMetrics)
        return sum
    }

    private var ownMetrics: TransferMetrics {
        var metrics = TransferMetrics(easy, hasConnection: hasConnection)
        metrics.url = request.url
        metrics.bytesReceived = bytesReceived
        metrics.bytesDecoded = bytesDecoded
        metrics.bytesSent = bytesSent
        metrics.isEndProven = endProof != .nothing && (endProof != .trailers || reader.hasTrailers)
        return metrics
    }
}
