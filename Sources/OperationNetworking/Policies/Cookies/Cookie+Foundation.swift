import Foundation
import FoundationNetworking

// Conversion from and to Foundation's `HTTPCookie`.
extension Cookie {
    private static let httpOnly = HTTPCookiePropertyKey("HttpOnly")
    private static let created = HTTPCookiePropertyKey("Created")

    /// - Returns: `nil` for a cookie that cannot be sent: one without a name, or with a line end, a tab or a
    ///   semicolon.
    init?(_ cookie: HTTPCookie) {
        self.init(
            name: cookie.name,
            value: cookie.value,
            domain: cookie.domain,
            includesSubdomains: cookie.domain.hasPrefix("."),
            // RFC 6265 §5.2.4: an invalid path is replaced by the default path.
            path: cookie.path.hasPrefix("/") ? cookie.path : "/",
            isSecure: cookie.isSecure,
            isHTTPOnly: cookie.isHTTPOnly,
            expires: Self.expiry(of: cookie)
        )
    }

    /// Foundation on Linux does not include `Max-Age` in `expiresDate`.
    private static func expiry(of cookie: HTTPCookie) -> Int64? {
        if let date = cookie.expiresDate { return seconds(date) }
        guard let properties = cookie.properties, let text = properties[.maximumAge] as? String,
            let age = Int64(text), let moment = creation(of: cookie)
        else { return nil }
        let (sum, hasOverflow) = seconds(Date(timeIntervalSinceReferenceDate: moment))
            .addingReportingOverflow(age)
        // As in libcurl, an age that overflows is clamped.
        return hasOverflow ? (age < 0 ? .min : .max) : sum
    }

    /// The time at which Foundation created the cookie, in seconds since 2001.
    static func creation(of cookie: HTTPCookie) -> Double? {
        cookie.properties?[created] as? Double
    }

    private static func seconds(_ date: Date) -> Int64 {
        Int64(max(-1e12, min(1e12, date.timeIntervalSince1970)).rounded(.down))
    }

    /// Returns the cookie as an `HTTPCookie`. The domain of a cookie that includes subdomains begins with a
    /// dot.
    ///
    /// - Parameter now: seconds since 1970. If it is given, a `Secure` cookie is made in a form that
    ///   `HTTPCookieStorage` does not write to its file: read back, it would no longer be `Secure` and would
    ///   be sent without TLS.
    /// - Returns: `nil` if Foundation rejects the cookie.
    func httpCookie(keepingSecureInMemory now: Int64? = nil) -> HTTPCookie? {
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: name, .value: value, .domain: (includesSubdomains ? "." : "") + domain, .path: path,
        ]
        // Foundation treats any text as true.
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
