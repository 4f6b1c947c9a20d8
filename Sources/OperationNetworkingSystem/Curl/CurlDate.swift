import COperationNetworking

/// Parses dates as libcurl does in a `Set-Cookie` line; see curl_getdate(3).
package enum CurlDate {
    /// Returns the seconds since 1970; `nil` if the date is invalid.
    package static func seconds(_ text: String) -> Int64? {
        let seconds = curl_getdate(text, nil)
        return seconds == -1 ? nil : Int64(seconds)
    }
}
