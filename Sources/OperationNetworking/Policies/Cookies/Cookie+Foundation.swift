import Foundation
import FoundationNetworking

// Foundation's form of a cookie.
extension Cookie {
    private static let httpOnly = HTTPCookiePropertyKey("HttpOnly")
    private static let created = HTTPCookiePropertyKey("Created")

    /// - Returns: `nil` for a cookie that cannot be sent: with a line end, a tab or a semicolon in it, or
    ///   without a name.
    init?(_ cookie: HTTPCookie) {
        self.init(
            name: cookie.name,
            value: cookie.value,
            domain: cookie.domain,
            includesSubdomains: cookie.domain.hasPrefix("."),
            // RFC 6265 §5.2.4: what is no path is the default one.
            path: cookie.path.hasPrefix("/") ? cookie.path : "/",
            isSecure: cookie.isSecure,
            isHTTPOnly: cookie.isHTTPOnly,
            expires: Self.expiry(of: cookie)
        )
    }

    /// Foundation on Linux does not count a `Max-Age` in.
    private static func expiry(of cookie: HTTPCookie) -> Int64? {
        if let date = cookie.expiresDate { return seconds(date) }
        guard let properties = cookie.properties, let text = properties[.maximumAge] as? String,
            let age = Int64(text), let moment = creation(of: cookie)
        else { return nil }
        let (sum, hasOverflow) = seconds(Date(timeIntervalSinceReferenceDate: moment))
            .addingReportingOverflow(age)
        // As libcurl: what is too long for a number is as long as a number can say.
        return hasOverflow ? (age < 0 ? .min : .max) : sum
    }

    /// The time at which Foundation was given the cookie, in seconds since 2001.
    static func creation(of cookie: HTTPCookie) -> Double? {
        cookie.properties?[created] as? Double
    }

    private static func seconds(_ date: Date) -> Int64 {
        Int64(max(-1e12, min(1e12, date.timeIntervalSince1970)).rounded(.down))
    }

    /// Foundation's form; a cookie of a named domain has a dot before it.
    ///
    /// - Parameter now: seconds since 1970. With it, the cookie is one that an `HTTPCookieStorage` will not
    ///   write to its file if it is `Secure`: read back from there it would not be, and would be sent without
    ///   TLS.
    /// - Returns: `nil` for what Foundation takes for no cookie.
    func httpCookie(keepingSecureInMemory now: Int64? = nil) -> HTTPCookie? {
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: name, .value: value, .domain: (includesSubdomains ? "." : "") + domain, .path: path,
        ]
        // Foundation takes any text for yes.
        if isSecure { properties[.secure] = "TRUE" }
        if isHTTPOnly { properties[Self.httpOnly] = "TRUE" }
        if let expires {
            if isSecure, let now {
                properties[.maximumAge] = String(expires - now)
            } else {
                properties[.expires] = Date(timeIntervalSince1970: Double(expires))
            }
        }
        return HTTPCookie(properties: properties)
    }
}
