import COperationNetworking

/// A date as libcurl reads it in a `Set-Cookie` line; see curl_getdate(3).
package enum CurlDate {
    /// The seconds since 1970; `nil`: it is no date.
    package static func seconds(_ text: String) -> Int64? {
        let seconds = curl_getdate(text, nil)
        return seconds == -1 ? nil : Int64(seconds)
    }
}
