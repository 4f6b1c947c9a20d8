public import Foundation
internal import OperationNetworkingSystem

/// The cost of a transfer, or of an exchange with all its redirects, resumptions and retries together.
public struct TransferMetrics: Hashable, Codable, Sendable {
    /// The URL of the last transfer, without user and password.
    public internal(set) var url: URL?
    /// Bytes of response bodies as they came over the wire, before any content coding was undone.
    public internal(set) var bytesReceived: Int64 = 0
    /// Bytes of response bodies after any content coding was undone; without one, as many as were received.
    public internal(set) var bytesDecoded: Int64 = 0
    /// Bytes of request bodies that were sent.
    public internal(set) var bytesSent: Int64 = 0
    /// Bytes that were here already when a transfer resumed, or were in the cache, and were not fetched
    /// again.
    public internal(set) var bytesKept: Int64 = 0
    /// Transfers: one, and one more for each redirect, each resumption, each retry, and each time the start
    /// had to be repeated. 0: the response came from the cache, and the server was not asked.
    public internal(set) var transferCount = 0
    /// The place that the last response came from.
    public internal(set) var source = ResponseSource.network
    /// Connections that had to be opened; the rest were reused.
    public internal(set) var connectionCount = 0
    /// The version of the last response: `1.0`, `1.1` or `2`; `nil` if there was none.
    public internal(set) var httpVersion: String?
    /// Whether something other than the end itself proves that the last body was complete: its length, its
    /// content coding, the last chunk, trailers of HTTP/2, or TLS. Says nothing of a transfer that failed.
    ///
    /// Nothing does where a body lasts until a connection without TLS closes, and where the response to a
    /// request that may not be asked twice came over HTTP/2 without a length: libcurl takes a stream that the
    /// server gave up in order (`RST_STREAM` with `NO_ERROR`) for a complete one. A response to a GET is
    /// asked for over HTTP/1.1 then.
    public internal(set) var isEndProven = true
    /// The seconds of the last transfer until the server's name was known; 0 over a reused connection.
    public internal(set) var nameLookupTime = 0.0
    /// The seconds of the last transfer until the connection stood, without TLS; 0 over a reused connection.
    public internal(set) var connectTime = 0.0
    /// The seconds of the last transfer until TLS stood; 0 without TLS, and over a reused connection.
    public internal(set) var tlsTime = 0.0
    /// The seconds of the last transfer until the first byte of the response.
    public internal(set) var firstByteTime = 0.0
    /// The seconds of all transfers together.
    public internal(set) var transferTime = 0.0

    init() {}

    /// The metrics of one transfer, from libcurl.
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

/// The costs of the transfers of an exchange, together and one by one.
struct TransferLog: Sendable {
    /// The number of last transfers whose costs are kept one by one.
    static let longestList = 100

    private(set) var sum = TransferMetrics()
    /// Most exchanges have one, and need no list.
    private var last: TransferMetrics?
    private var earlier: [TransferMetrics] = []

    init() {}

    /// Of an earlier process, which kept the sum.
    init(_ sum: TransferMetrics) {
        self.sum = sum
    }

    /// Whether no transfer has ended yet.
    var isEmpty: Bool { last == nil }

    var transfers: [TransferMetrics] { earlier + (last.map { [$0] } ?? []) }

    /// A transfer has ended.
    mutating func add(_ next: TransferMetrics) {
        sum.add(next)
        if let last { earlier.append(last) }
        if earlier.count == Self.longestList { earlier.removeFirst() }
        last = next
    }

    /// Bytes were there already, and are not fetched again.
    mutating func addKept(_ count: Int64) {
        sum.bytesKept = sum.bytesKept.addingSaturated(count)
    }
}

extension Transfer {
    /// The transfer's cost until now, with earlier tries.
    var metrics: TransferMetrics {
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

/// The place that a response came from: see ``TransferMetrics/source``.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum ResponseSource: String, Hashable, Codable, Sendable, CaseIterable {
    /// The server, or what answers in its place.
    case network
    /// The cache, which was sure that the server would answer the same.
    case cache
    /// The cache, after the server had confirmed it, or had sent what was missing.
    case validated
    /// The cache, older than the server wants it: the request, or the server, allows that for now.
    case stale
}
