import Foundation
import FoundationNetworking

@testable import OperationNetworking

/// The requests, heads and times of the tables: one URL, and a clock that the row sets.
enum CacheScenario {
    /// Tue, 01 Sep 2026 00:00:00 GMT.
    static let start: Double = 1_788_220_800

    static let url = "http://server.test/thing"

    /// The date, as a field has it, `seconds` after the start.
    static func date(_ seconds: Double) -> String {
        HTTPDate(Date(timeIntervalSince1970: start + seconds)).text
    }

    static func request(
        _ fields: HeaderFields = [:],
        method: String = "GET",
        policy: URLRequest.CachePolicy = .useProtocolCachePolicy,
        identity: String? = nil,
        url: String = CacheScenario.url
    ) -> CacheRequest {
        let parsed = URL(string: url) ?? URL(fileURLWithPath: "/")
        return CacheRequest(
            key: CacheKey(parsed),
            url: parsed,
            method: method,
            fields: fields,
            policy: policy,
            identity: identity,
            hasBody: false
        )
    }

    static func head(_ fields: HeaderFields, status: Int = 200) -> ResponseHead {
        ResponseHead(version: "HTTP/1.1", status: status, fields: fields)
    }

    /// A response of ten bytes that came whole at the start, in no time, with a `Date` unless it is given.
    static func stored(
        _ fields: HeaderFields,
        status: Int = 200,
        for request: CacheRequest = CacheScenario.request(),
        length: Int64 = 10,
        isWhole: Bool = true
    ) -> CachedHead? {
        var all = fields
        if all["Date"] == nil { all["Date"] = date(0) }
        let head = CachePolicy.stored(
            head(all, status: status),
            for: request,
            requestTime: start,
            responseTime: start
        )
        guard let head else { return nil }
        return head.ended(at: length, isWhole: isWhole)
    }
}

extension CacheAnswer {
    /// The case and what distinguishes it from others, for tables: `fetch`, `serve fresh`, `validate`.
    var summary: String {
        switch self {
        case .fetch: "fetch"
        case .serve(_, let reply):
            "serve \(reply.source == .cache ? "fresh" : reply.source.rawValue)"
                + (reply.revalidation == nil ? "" : " and revalidate")
        case .validate: "validate"
        case .unavailable: "unavailable"
        }
    }

    /// The reply that is served.
    var reply: CacheReply? {
        if case .serve(_, let reply) = self { reply } else { nil }
    }

    /// The fields that are sent in place of the request's.
    var fields: HeaderFields? {
        switch self {
        case .validate(_, let fields): fields
        case .fetch, .serve, .unavailable: nil
        }
    }
}

extension CachedHead {
    /// The head as a head file has it.
    var encoded: [UInt8] {
        var writer = HeadWriter()
        write(to: &writer)
        return writer.octets
    }

    /// Fails unless the octets are one head, and nothing else.
    init?(encoded octets: [UInt8]) {
        var reader = HeadReader(octets)
        guard let head = try? CachedHead(from: &reader), reader.isAtEnd else { return nil }
        self = head
    }
}
