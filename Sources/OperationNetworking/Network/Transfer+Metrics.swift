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
        let moments = easy.moments
        var metrics = TransferMetrics()
        metrics.url = request.url
        metrics.bytesReceived = bytesReceived
        metrics.bytesDecoded = bytesDecoded
        metrics.bytesSent = bytesSent
        metrics.transferCount = 1
        metrics.connectionCount = easy.connectionCount
        metrics.httpVersion = easy.httpVersion
        // libcurl counts some microseconds for a name that it did not look up.
        let hasReusedConnection = hasConnection && metrics.connectionCount == 0
        metrics.nameLookupTime = hasReusedConnection ? 0 : Double(moments.name) / 1e6
        metrics.connectTime = Double(moments.connection) / 1e6
        metrics.tlsTime = Double(moments.tls) / 1e6
        metrics.firstByteTime = Double(moments.firstByte) / 1e6
        metrics.transferTime = Double(moments.total) / 1e6
        return metrics
    }
}
