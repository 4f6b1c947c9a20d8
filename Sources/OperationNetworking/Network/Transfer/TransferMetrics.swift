public import Foundation
internal import OperationNetworkingSystem

/// The metrics of a transfer, or of an exchange with all its redirects, resumptions and retries.
public struct TransferMetrics: Hashable, Codable, Sendable {
    /// The URL of the last transfer, without user and password.
    public internal(set) var url: URL?
    /// The number of bytes of response bodies as received, before content decoding.
    public internal(set) var bytesReceived: Int64 = 0
    /// The number of bytes of response bodies after content decoding; without a content coding, the number
    /// received.
    public internal(set) var bytesDecoded: Int64 = 0
    /// The number of bytes of request bodies that were sent.
    public internal(set) var bytesSent: Int64 = 0
    /// The number of bytes that were not received again, because they were kept from before a resumption or
    /// were in the cache.
    public internal(set) var bytesKept: Int64 = 0
    /// The number of transfers: one, and one for each redirect, resumption, retry, and repeated start. 0 if
    /// the response came from the cache without a request to the server.
    public internal(set) var transferCount = 0
    /// Where the last response came from.
    public internal(set) var source = ResponseSource.network
    /// The number of connections that were opened; the others were reused.
    public internal(set) var connectionCount = 0
    /// The HTTP version of the last response: `1.0`, `1.1` or `2`; `nil` if there was none.
    public internal(set) var httpVersion: String?
    /// Whether something other than the end itself proves that the last body was complete: its length, its
    /// content coding, the last chunk, HTTP/2 trailers, or TLS. Meaningless for a transfer that failed.
    ///
    /// There is no proof if a body ends with a connection without TLS, or if the response to a request that
    /// may not be repeated arrived over HTTP/2 without a length: libcurl treats a stream that the server
    /// cancelled without an error (`RST_STREAM` with `NO_ERROR`) as complete. A GET is repeated over HTTP/1.1
    /// in that case.
    public internal(set) var isEndProven = true
    /// The seconds of the last transfer until the server's name was resolved; 0 over a reused connection.
    public internal(set) var nameLookupTime = 0.0
    /// The seconds of the last transfer until the connection was established, without TLS; 0 over a reused
    /// connection.
    public internal(set) var connectTime = 0.0
    /// The seconds of the last transfer until TLS was established; 0 without TLS, and over a reused
    /// connection.
    public internal(set) var tlsTime = 0.0
    /// The seconds of the last transfer until the first byte of the response.
    public internal(set) var firstByteTime = 0.0
    /// The seconds of all transfers together.
    public internal(set) var transferTime = 0.0

    init() {}

    /// Creates the metrics of one transfer, from libcurl.
    init(_ easy: EasyHandle, hasConnection: Bool) {
        let moments = easy.moments
        transferCount = 1
        connectionCount = easy.connectionCount
        httpVersion = easy.httpVersion
        // libcurl counts some microseconds for a name that it did not look up.
        nameLookupTime = hasConnection && connectionCount == 0 ? 0 : Double(moments.name) / 1e6
        connectTime = Double(moments.connection) / 1e6
        tlsTime = Double(moments.tls) / 1e6
        firstByteTime = Double(moments.firstByte) / 1e6
        transferTime = Double(moments.total) / 1e6
    }

    /// Adds a later transfer of the same exchange.
    mutating func add(_ next: TransferMetrics) {
        var sum = next
        sum.bytesReceived += bytesReceived
        sum.bytesDecoded += bytesDecoded
        sum.bytesSent += bytesSent
        sum.bytesKept += bytesKept
        sum.transferCount += transferCount
        sum.connectionCount += connectionCount
        sum.transferTime += transferTime
        self = sum
    }
}

extension Transfer {
    /// The transfer's metrics so far, including earlier tries.
    var metrics: TransferMetrics {
        guard start.spent.transferCount > 0 else { return ownMetrics }
        var sum = start.spent
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

/// Where a response came from: see ``TransferMetrics/source``.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum ResponseSource: String, Hashable, Codable, Sendable, CaseIterable {
    /// The server, or whatever answers in its place.
    case network
    /// The cache, with a fresh response.
    case cache
    /// The cache, after the server confirmed the response, or sent the missing bytes.
    case validated
    /// The cache, with a stale response that the request or the server allows.
    case stale
}
