import Foundation
import FoundationNetworking

extension CachedHead {
    /// The head of a response that the caller stores; `nil` for a partial response and for one that is not
    /// HTTP.
    init?(_ response: CachedURLResponse, for asked: CacheRequest) {
        guard let http = response.response as? HTTPURLResponse else { return nil }
        var fields = HeaderFields()
        for (name, value) in http.allHeaderFields {
            guard let name = name as? String, let value = value as? String else { continue }
            fields.append(name: name, value: value)
        }
        guard http.statusCode != 206, fields.saysWhole(count: Int64(response.data.count)) else { return nil }
        let now = Date().timeIntervalSince1970
        self.init(
            url: asked.key.url,
            method: "GET",
            head: ResponseHead(version: "HTTP/1.1", status: http.statusCode, fields: fields),
            selecting: SelectingFields(vary: fields)?.values(in: asked.selectingFields) ?? HeaderFields(),
            identity: asked.identity,
            requestTime: now,
            responseTime: now,
            length: Int64(response.data.count),
            isDecoded: true
        )
    }

    /// Whether the request matches the fields by which the response was selected (RFC 9111 §4.1) and names
    /// the same user.
    func isSelected(by request: CacheRequest) -> Bool {
        guard let names = meaning.selecting, request.identity == identity else { return false }
        return names.match(selecting, request.selectingFields, language: fields["Content-Language"])
    }
}

extension CacheRequest {
    /// Describes a request as the caller wrote it.
    init(_ request: URLRequest, _ url: URL) {
        let fields = HeaderFields(request.allHTTPHeaderFields ?? [:])
        self.init(
            key: CacheKey(url, partition: CachePartition.hostName(in: fields)),
            url: url,
            method: "GET",
            fields: fields,
            policy: request.cachePolicy,
            identity: RequestIdentity(request).digest,
            hasBody: false
        )
    }
}
