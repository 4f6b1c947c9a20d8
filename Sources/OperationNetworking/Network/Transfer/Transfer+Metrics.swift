import Foundation
internal import OperationNetworkingSystem

extension Transfer {
    /// Its cost until now, with earlier tries.
    var metrics: TransferMetrics {
        var sum = spent
        sum.add(ownMetrics)
        return sum
    }

    private var ownMetrics: TransferMetrics {
        var metrics = TransferMetrics(easy, hasConnection: hasConnection)
        metrics.url = request.url
        metrics.bytesReceived = incoming?.received ?? 0
        metrics.bytesDecoded = incoming?.decoded ?? 0
        metrics.bytesSent = bytesSent
        switch incoming?.endProof {
        case .nothing: metrics.isEndProven = false
        case .trailers: metrics.isEndProven = reader.hasTrailers
        case nil, .length, .coding, .chunks, .closeNotify: metrics.isEndProven = true
        }
        return metrics
    }
}
