import Foundation
import FoundationNetworking

/// A response in a cache of Foundation's form, with the head as HTTP knows it in its `userInfo`.
struct WrappedResponse: Sendable {
    /// The keys in `userInfo`; the values are such as any archive keeps.
    private enum Note {
        static let head = "OperationNetworking.head"
        static let id = "OperationNetworking.id"
        static let partition = "OperationNetworking.partition"
    }

    var entry: CacheEntry
    var body: Data

    init(entry: CacheEntry, body: Data) {
        self.entry = entry
        self.body = body
    }

    /// Reads what a cache gave.
    ///
    /// - Returns: `nil` if it is of another URL, or of no use.
    init?(_ cached: CachedURLResponse, for key: CacheKey) {
        guard let response = cached.response as? HTTPURLResponse, let url = response.url else { return nil }
        guard CacheKey(url).url == key.url else { return nil }
        body = cached.data
        guard let encoded = cached.userInfo?[Note.head] as? Data else {
            guard key.partition.isEmpty, let head = CachedHead(foreign: response, key, body) else {
                return nil
            }
            entry = CacheEntry(id: key.storedHash, head: head)
            return
        }
        guard let head = CachedHead(encoded: encoded), head.url == key.url,
            head.length == Int64(body.count),
            let id = cached.userInfo?[Note.id] as? Int64,
            cached.userInfo?[Note.partition] as? String == key.partition
        else { return nil }
        entry = CacheEntry(id: id, head: head)
    }

    /// The form in which it is stored.
    func cached(for key: CacheKey) -> CachedURLResponse? {
        guard let url = URL(string: key.url), let response = entry.head.head.response(for: url) else {
            return nil
        }
        let notes: [String: Any] = [
            Note.head: entry.head.encoded, Note.id: entry.id, Note.partition: key.partition,
        ]
        return CachedURLResponse(response: response, data: body, userInfo: notes, storagePolicy: .allowed)
    }
}

extension CachedHead {
    /// The head of a response that another client stored; `nil`: too little is known of it.
    fileprivate init?(foreign response: HTTPURLResponse, _ key: CacheKey, _ body: Data) {
        var fields = HeaderFields()
        for (name, value) in response.allHeaderFields {
            guard let name = name as? String, let value = value as? String else { continue }
            fields.append(name: name, value: value)
        }
        let isDecoded = fields["Content-Encoding"] != nil
        let isWhole = isDecoded || fields["Content-Length"].map { $0 == "\(body.count)" } ?? true
        guard fields["Vary"] == nil, response.statusCode != 206, isWhole, fields.saysWhole() else {
            return nil
        }
        let time = HTTPDate.cacheDate(in: fields, "Date", now: Date().timeIntervalSince1970) ?? 0
        self.init(
            url: key.url,
            method: "GET",
            head: ResponseHead(version: "HTTP/1.1", status: response.statusCode, fields: fields),
            selecting: HeaderFields(),
            identity: nil,
            requestTime: time,
            responseTime: time,
            length: Int64(body.count),
            isDecoded: isDecoded,
            isInvalidated: true
        )
    }
}
