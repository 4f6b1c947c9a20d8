internal import Foundation

extension CachePolicy {
    /// The methods that change nothing (RFC 9110 §9.2.1, RFC 3253, RFC 4918, RFC 5323). An unknown method may
    /// change anything.
    private static let safeMethods: Set<String> = [
        "GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "QUERY", "REPORT", "SEARCH",
    ]

    /// The URLs, as texts of keys, whose stored responses an unsafe method invalidates ([RFC 9111
    /// §4.4](https://www.rfc-editor.org/rfc/rfc9111#section-4.4)).
    ///
    /// `Location` and `Content-Location` count only if they have the same origin, so that no server can empty
    /// the cache of another.
    ///
    /// - Returns: no URL for a safe method, or after an error.
    static func invalidated(by request: CacheRequest, _ head: ResponseHead) -> [String] {
        guard !safeMethods.contains(request.method), (200..<400).contains(head.status) else { return [] }
        var urls = [request.key.url]
        for name in ["Location", "Content-Location"] {
            guard let url = head.location(name, from: request.url)?.url, Origin(url) == Origin(request.url)
            else { continue }
            let key = CacheKey.text(of: url)
            if !urls.contains(key) { urls.append(key) }
        }
        return urls
    }
}
