import Foundation

// Netscape's file format, one cookie per line, as curl and wget write it:
//
//     example.com  FALSE  /  TRUE  0  session  1a2b
//
// separated by tabs: the domain, whether it includes subdomains, the path, whether TLS is required, the
// expiry in seconds since 1970 (0: a session cookie), name and value. `#HttpOnly_` may precede the domain.
extension Cookie {
    private static let httpOnlyMark = "#HttpOnly_"

    /// Why a line is not a cookie.
    enum LineError: Error, Hashable {
        case fieldCount(Int)
        case flag(String)
        case expiry(String)
        case characters
        /// The line is not UTF-8.
        case encoding
    }

    /// The line, without a line end.
    var line: String {
        let mark = isHTTPOnly ? Self.httpOnlyMark : ""
        let dot = includesSubdomains ? "." : ""
        let fields = [
            mark + dot + domain, includesSubdomains ? "TRUE" : "FALSE", path, isSecure ? "TRUE" : "FALSE",
            // At least 1, which has expired: 0 would mean a session cookie.
            String(expires.map { max(1, $0) } ?? 0), name, value,
        ]
        return fields.joined(separator: "\t")
    }

    /// Reads a line that may also be a comment or empty.
    /// - Throws: ``LineError``.
    /// - Returns: `nil` for a line that holds no cookie.
    static func read(line: Substring) throws(LineError) -> Cookie? {
        let isHTTPOnly = line.hasPrefix(httpOnlyMark)
        let line = isHTTPOnly ? line.dropFirst(httpOnlyMark.count) : line
        guard isHTTPOnly || !line.hasPrefix("#"), line.contains(where: { $0 != " " && $0 != "\t" }) else {
            return nil
        }
        let fields = line.split(separator: "\t", maxSplits: 6, omittingEmptySubsequences: false)
        guard fields.count == 7 else { throw .fieldCount(fields.count) }
        guard let expires = Int64(fields[4]) else { throw .expiry(String(fields[4])) }
        let cookie = Cookie(
            name: String(fields[5]),
            value: String(fields[6]),
            domain: String(fields[0]),
            includesSubdomains: try flag(fields[1]),
            path: fields[2].hasPrefix("/") ? String(fields[2]) : "/",
            isSecure: try flag(fields[3]),
            isHTTPOnly: isHTTPOnly,
            expires: expires == 0 ? nil : expires
        )
        guard let cookie else { throw .characters }
        return cookie
    }

    /// Reads a line from libcurl; `nil` if it is not a valid cookie.
    init?(line: String) {
        guard let cookie = try? Cookie.read(line: line[...]) else { return nil }
        self = cookie
    }

    private static func flag(_ text: Substring) throws(LineError) -> Bool {
        switch text.uppercased() {
        case "TRUE": true
        case "FALSE": false
        default: throw .flag(String(text))
        }
    }
}
