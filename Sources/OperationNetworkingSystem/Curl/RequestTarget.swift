import COperationNetworking
import Glibc

/// The request target: the path and the query in a request line
/// ([RFC 9112 §3.2.1](https://www.rfc-editor.org/rfc/rfc9112#section-3.2.1)).
package enum RequestTarget {
    /// Returns the path and query that libcurl sends for a URL, by its own parser, which removes dot segments
    /// and percent-encodes.
    ///
    /// - Returns: `nil` if libcurl rejects the URL.
    package static func of(_ url: String) -> String? {
        guard let parser = curl_url() else { return nil }
        defer { curl_url_cleanup(parser) }
        guard curl_url_set(parser, CURLUPART_URL, url, UInt32(CURLU_NON_SUPPORT_SCHEME)) == CURLUE_OK,
            let path = part(CURLUPART_PATH, of: parser, UInt32(CURLU_URLENCODE))
        else { return nil }
        // With the same calls as libcurl: whether a question mark without a query is sent depends on its
        // version.
        guard let query = part(CURLUPART_QUERY, of: parser, 0) else { return path }
        return path + "?" + query
    }

    private static func part(_ part: CURLUPart, of parser: OpaquePointer, _ flags: UInt32) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(parser, part, &text, flags) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
