import COperationNetworking

/// A URL in libcurl's form, taken apart once for many transfers: a `CURLU *`; see libcurl-url(3).
///
/// A transfer that has it neither takes its URL apart nor puts it together again, which libcurl does octet by
/// octet. Used on one thread, like the handles. Each handle keeps it: libcurl reads it when the transfer
/// starts.
package final class ParsedURL {
    /// As libcurl takes the URL of a transfer apart (CURLOPT_URL(3)); a user in it is refused there, too
    /// (CURLOPT_DISALLOW_USERNAME_IN_URL(3)).
    private static let flags = UInt32(CURLU_GUESS_SCHEME | CURLU_NON_SUPPORT_SCHEME | CURLU_DISALLOW_USER)

    /// The URL as it was given.
    package let text: String
    let pointer: OpaquePointer

    /// - Returns: `nil` for what libcurl is to judge itself, when the transfer starts: no URL; and one with
    ///   the zone of an address (RFC 6874), which a copy loses in libcurl 7.88.
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
