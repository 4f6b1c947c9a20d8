/// The status codes from the point of view of a cache.
///
/// | Status                                              | Stored                      | Source          |
/// |-----------------------------------------------------|-----------------------------|-----------------|
/// | 200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501 | with or without a lifetime | RFC 9110 §15.1 |
/// | 206                                                 | never: parts are not stored | RFC 9111 §3.3   |
/// | 428, 429, 431, 511                                  | never                       | RFC 6585        |
/// | 304, 412, 416                                       | never: they answer the condition or range of one request |   |
/// | 401, 407, 408, 421, 425                             | never: they concern one request, or its connection | |
/// | 1xx                                                 | never                       | RFC 9111 §3     |
/// | others, including 302, 303 and 307                  | with a lifetime, `public` or `private` | RFC 9111 §3 |
struct ResponseStatus: Hashable, Sendable {
    let code: Int

    init(_ code: Int) {
        self.code = code
    }

    /// Whether the response may be stored without a lifetime (RFC 9110 §15.1).
    var isHeuristicallyCacheable: Bool {
        switch code {
        case 200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501: true
        default: false
        }
    }

    /// Whether no directive allows storing the response.
    var isNeverStored: Bool {
        switch code {
        case 206, 304, 401, 407, 408, 412, 416, 421, 425, 428, 429, 431, 511: true
        default: !(200..<600).contains(code)
        }
    }

    /// Whether the cache implements the caching rules of the status (RFC 9111 §5.2.2.3).
    var isUnderstood: Bool {
        switch code {
        case 200...205, 300...303, 307, 308, 400...417, 422, 426, 500...505: !isNeverStored
        default: false
        }
    }

    /// Whether a stale response may replace this one (RFC 5861 §4).
    var isServerFailure: Bool { [500, 502, 503, 504].contains(code) }
}
