import Foundation
import FoundationNetworking

extension CachedHead {
    /// The head of a response that a client gives to be stored; `nil`: it is no HTTP response, or a part.
    init?(_ response: CachedURLResponse, for request: URLRequest) {
        guard let http = response.response as? HTTPURLResponse, let url = request.url else { return nil }
        var fields = HeaderFields()
        for (name, value) in http.allHeaderFields {
            guard let name = name as? String, let value = value as? String else { continue }
            fields.append(name: name, value: value)
        }
        guard http.statusCode != 206, fields.saysWhole(count: Int64(response.data.count)) else { return nil }
        let asked = CacheRequest(request, url)
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

    /// Whether the fields of the request are those that the response was selected by (RFC 9111 §4.1), and it
    /// is sent as the same user.
    func isSelected(by request: CacheRequest) -> Bool {
        guard let names = SelectingFields(vary: fields), request.identity == identity else { return false }
        return names.match(selecting, request.selectingFields, language: fields["Content-Language"])
    }
}

extension CacheRequest {
    /// A request as its caller has made it.
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
