import Foundation
import FoundationNetworking

extension CachedHead {
    /// The head of a response that a client gives to be stored; `nil`: it is no HTTP response.
    init?(_ response: CachedURLResponse, for request: URLRequest) {
        guard let http = response.response as? HTTPURLResponse, let url = request.url else { return nil }
        var fields = HeaderFields()
        for (name, value) in http.allHeaderFields {
            guard let name = name as? String, let value = value as? String else { continue }
            fields.append(name: name, value: value)
        }
        let now = Date().timeIntervalSince1970
        let length = Int64(response.data.count)
        self.init(
            url: CacheKey(url).url,
            method: "GET",
            head: ResponseHead(version: "HTTP/1.1", status: http.statusCode, fields: fields),
            selecting: SelectingFields(vary: fields)?.values(in: HeaderFields(request)) ?? HeaderFields(),
            authorization: nil,
            requestTime: now,
            responseTime: now,
            body: CachedExtent(range: 0..<length, completeLength: length, isComplete: true),
            isDecoded: true
        )
    }

    /// Whether the fields of the request are those that the response was selected by (RFC 9111 §4.1).
    func isSelected(by request: URLRequest) -> Bool {
        guard let names = SelectingFields(vary: fields) else { return false }
        return names.match(selecting, HeaderFields(request), language: fields["Content-Language"])
    }
}

extension HeaderFields {
    fileprivate init(_ request: URLRequest) {
        self.init(request.allHTTPHeaderFields ?? [:])
    }
}
