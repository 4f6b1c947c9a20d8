internal import OperationNetworkingSystem

/// The cookies that a response deletes by `Set-Cookie` lines with a `Domain`.
///
/// The cookie of a public suffix is for that host only, whether or not the line that sets or deletes it names
/// the domain ([RFC 6265 §5.3, step 5](https://www.rfc-editor.org/rfc/rfc6265#section-5.3)). For libcurl,
/// lines with and without `Domain` are about different cookies, so it keeps the cookie that it was given.
///
/// | The last line for the name and path       | libcurl                     | The public suffix's cookie |
/// |-------------------------------------------|-----------------------------|----------------------------|
/// | has no `Domain`                           | has changed or removed it   | as in libcurl              |
/// | has the host as `Domain`, and has expired | still has the host-only one | erased                     |
/// | has the host as `Domain`, and has not expired | has a new one               | as in libcurl              |
/// | has another `Domain`                      | ignored                     | ignored                    |
struct CookieErasures: Sendable {
    private struct Line: Hashable {
        let name: String
        /// In the form of ``Cookie/domain``; `nil` if the line has none.
        let domain: String?
        /// `nil` if the line has none: the request's path applies.
        let path: String?
    }

    /// The last line for a name, domain and path.
    private struct Last {
        let number: Int
        let isOver: Bool
    }

    private var lines: [Line: Last] = [:]
    private var count = 0

    /// Reads the value of the next `Set-Cookie` field.
    mutating func read(_ line: String, now: Int64 = .secondsSince1970) {
        var (domain, path, age, date) = (String?.none, String?.none, Substring?.none, Int64?.none)
        for attribute in CookiePrefix.attributes(of: line) {
            switch attribute.name.lowercased() {
            case "domain":
                let named = Cookie.canonical(String(attribute.value))
                if !named.isEmpty { domain = named }
            case "path": path = Self.path(attribute.value)
            case "max-age": age = attribute.value
            case "expires": if date ?? 0 == 0 { date = CurlDate.seconds(String(attribute.value)) }
            default: break
            }
        }
        let isOver = age.map(Self.isOver) ?? date.map { $0 <= now } ?? false
        // Other lines only change libcurl's cookies, or override an earlier erasure.
        guard isOver && domain != nil || count > 0 else { return }
        count += 1
        let key = Line(name: CookiePrefix.name(of: line), domain: domain, path: path)
        lines[key] = Last(number: count, isOver: isOver)
    }

    /// Whether the response erases the cookie, whose host is a public suffix. `requestPath` is
    /// percent-encoded.
    func erases(_ cookie: Cookie, ofRequestTo requestPath: String) -> Bool {
        guard count > 0 else { return false }
        let path = Self.withoutLastSlash(cookie.path[...])
        let isDefault = Self.withoutLastSlash(Self.directory(of: requestPath)) == path
        var last: (line: Line, entry: Last)?
        for domain in [nil, cookie.domain] {
            for path in isDefault ? [path, nil] : [path] {
                let line = Line(name: cookie.name, domain: domain, path: path)
                guard let entry = lines[line], entry.number > last?.entry.number ?? 0 else { continue }
                last = (line, entry)
            }
        }
        guard let last else { return false }
        return last.entry.isOver && last.line.domain != nil
    }

    /// As in libcurl, an age that is not a number means that the cookie has expired.
    private static func isOver(_ age: Substring) -> Bool {
        let number = age.drop { $0 == "\"" }
        guard !number.hasPrefix("-") else { return true }
        let digits = number.utf8.prefix { $0.isASCIIDigit }
        return digits.allSatisfy { $0 == UInt8(ascii: "0") }
    }

    private static func path(_ value: Substring) -> String {
        let bare = value.utf8.first == UInt8(ascii: "\"") ? value.dropFirst() : value
        let path = bare.utf8.last == UInt8(ascii: "\"") ? bare.dropLast() : bare
        return path.hasPrefix("/") ? withoutLastSlash(path) : "/"
    }

    /// The default path of a cookie: the request's path up to its last slash (RFC 6265 §5.1.4).
    static func directory(of path: String) -> Substring {
        path.lastIndex(of: "/").map { path[...$0] } ?? "/"
    }

    private static func withoutLastSlash(_ path: Substring) -> String {
        path.utf8.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : String(path)
    }
}
