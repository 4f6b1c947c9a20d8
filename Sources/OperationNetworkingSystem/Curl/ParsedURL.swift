import COperationNetworking

/// A URL that is parsed once for many transfers: a `CURLU *`; see libcurl-url(3).
///
/// A transfer with it neither parses nor reassembles its URL, which libcurl does octet by octet. Used on one
/// thread, like the handles. Each handle retains it, because libcurl reads it when the transfer starts.
package final class ParsedURL {
    /// The flags with which libcurl parses a transfer's URL (CURLOPT_URL(3)); a user is refused there, too
    /// (CURLOPT_DISALLOW_USERNAME_IN_URL(3)).
    private static let flags = UInt32(CURLU_GUESS_SCHEME | CURLU_NON_SUPPORT_SCHEME | CURLU_DISALLOW_USER)

    /// The URL as given.
    package let text: String
    let pointer: OpaquePointer

    /// - Returns: `nil` if libcurl should parse the URL itself when the transfer starts: an invalid URL, or
    ///   one with an address zone (RFC 6874), which copies lose in libcurl 7.88.
    package init?(_ text: String) {
        guard !text.utf8.contains(UInt8(ascii: "[")), let made = curl_url() else { return nil }
        guard curl_url_set(made, CURLUPART_URL, text, Self.flags) == CURLUE_OK else {
            curl_url_cleanup(made)
            return nil
        }
        self.text = text
        pointer = made
    }

    deinit {
        curl_url_cleanup(pointer)
    }
}
