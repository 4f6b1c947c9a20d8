import Foundation

/// The costs of an exchange as an archive keeps them. What is absent was not known to the version that wrote
/// it.
struct TransferMetricsArchive: Codable, Sendable {
    private var url: URL?
    private var bytesReceived: Int64?
    private var bytesDecoded: Int64?
    private var bytesSent: Int64?
    private var bytesKept: Int64?
    private var transferCount: Int?
    private var source: String?
    private var connectionCount: Int?
    private var httpVersion: String?
    private var isEndProven: Bool?
    private var times: [Double]?

    init(_ metrics: TransferMetrics) {
        url = metrics.url
        bytesReceived = metrics.bytesReceived
        bytesDecoded = metrics.bytesDecoded
        bytesSent = metrics.bytesSent
        bytesKept = metrics.bytesKept
        transferCount = metrics.transferCount
        source = metrics.source.rawValue
        connectionCount = metrics.connectionCount
        httpVersion = metrics.httpVersion
        isEndProven = metrics.isEndProven
        times = [
            metrics.nameLookupTime, metrics.connectTime, metrics.tlsTime, metrics.firstByteTime,
            metrics.transferTime,
        ]
    }

    var metrics: TransferMetrics {
        var metrics = TransferMetrics()
        metrics.url = url
        metrics.bytesReceived = bytesReceived ?? 0
        metrics.bytesDecoded = bytesDecoded ?? 0
        metrics.bytesSent = bytesSent ?? 0
        metrics.bytesKept = bytesKept ?? 0
        metrics.transferCount = transferCount ?? 0
        metrics.source = source.flatMap(ResponseSource.init) ?? .network
        metrics.connectionCount = connectionCount ?? 0
        metrics.httpVersion = httpVersion
        metrics.isEndProven = isEndProven ?? true
        guard let times, times.count == 5 else { return metrics }
        metrics.nameLookupTime = times[0]
        metrics.connectTime = times[1]
        metrics.tlsTime = times[2]
        metrics.firstByteTime = times[3]
        metrics.transferTime = times[4]
        return metrics
    }
}

/// The answers of a ``RequestFailure`` as an archive keeps them.
struct FailureTraitsArchive: Codable, Sendable {
    private var code: Int?
    let statusCode: Int?
    private var isUntrusted: Bool?
    private var mayPass: Bool?
    private var isMistake: Bool?

    init(_ traits: FailureTraits) {
        code = traits.code?.rawValue
        statusCode = traits.statusCode
        isUntrusted = traits.isUntrusted
        mayPass = traits.mayPass
        isMistake = traits.isMistake
    }

    var traits: FailureTraits {
        FailureTraits(
            code: code.flatMap(URLError.Code.init),
            statusCode: statusCode,
            isUntrusted: isUntrusted ?? false,
            mayPass: mayPass ?? false,
            isMistake: isMistake ?? false
        )
    }
}
