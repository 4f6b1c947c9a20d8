internal import OperationNetworkingSystem

/// The cookies that a response takes away by `Set-Cookie` lines with a `Domain`: a value.
///
/// The cookie of a public suffix is for that host alone, whether or not the line that sets it names the
/// domain, and so is the one that takes it away ([RFC 6265 §5.3, step
/// 5](https://www.rfc-editor.org/rfc/rfc6265#section-5.3)). For libcurl the two are different cookies, and it
/// keeps the one that it was given.
///
/// | The last line of the name and the path has | libcurl                       | the cookie of a public suffix |
/// |--------------------------------------------|-------------------------------|-------------------------------|
/// | no `Domain`                                | has changed or removed it     | is what libcurl has           |
/// | the host as `Domain`, and is over          | has the host's own as before  | is erased                     |
/// | the host as `Domain`, and is not over      | has another one               | is what libcurl has           |
/// | another `Domain`                           | does not count                | does not count                |
struct CookieErasures: Sendable {
    private struct Line: Hashable {
        let name: String
        /// In the form of ``Cookie/domain``; `nil`: the line has none.
        let domain: String?
        /// `nil`: the line has none, and means that of the request.
        let path: String?
    }

    /// The last line of its kind.
    private struct Last {
        let number: Int
        let isOver: Bool
    }

    private var lines: [Line: Last] = [:]
    private var count = 0

    /// Takes the value of the next `Set-Cookie` field.
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
        // The others change what libcurl has, or take back what an earlier one says.
        guard isOver && domain != nil || count > 0 else { return }
        count += 1
        let key = Line(name: CookiePrefix.name(of: line), domain: domain, path: path)
        lines[key] = Last(number: count, isOver: isOver)
    }

    /// Whether the cookie, of a host that is a public suffix, is erased. The path is the request's, with its
    /// percent signs.
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

    /// As libcurl does: what is no number is over.
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

    /// The path of a request up to its last slash, which is that of a cookie whose line names none (RFC 6265
    /// §5.1.4).
    static func directory(of path: String) -> Substring {
        path.lastIndex(of: "/").map { path[...$0] } ?? "/"
    }

    private static func withoutLastSlash(_ path: Substring) -> String {
        path.utf8.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : String(path)
    }
}
