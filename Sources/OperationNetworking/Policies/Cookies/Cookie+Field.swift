import Foundation

extension [Cookie] {
    /// The value of a request's `Cookie` field, with the cookies that libcurl would choose ([RFC 6265
    /// §5.4](https://www.rfc-editor.org/rfc/rfc6265#section-5.4)); `nil` if no cookie matches the request.
    /// `named` is the host of the request's `Host` field, in the form of a cookie's domain.
    func fieldValue(for url: URL, host named: String? = nil) -> String? {
        guard !isEmpty else { return nil }
        let host = named ?? Cookie.canonical(url.host ?? "")
        let encoded = url.path(percentEncoded: true)
        let path = encoded.isEmpty ? "/" : encoded
        let isSecure = Cookie.isSecure(host: host, isTLS: url.isTLS)
        let now = Int64.secondsSince1970
        // As in libcurl, a trailing slash in a cookie's path is ignored.
        let chosen = filter { cookie in
            cookie.concerns(host: host) && (cookie.concerns(path: path) || cookie.path == path + "/")
                && (isSecure || !cookie.isSecure) && !cookie.hasExpired(by: now)
        }
        guard !chosen.isEmpty else { return nil }
        return chosen.sorted { $0.path.utf8.count > $1.path.utf8.count }
            .map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
    }
}
