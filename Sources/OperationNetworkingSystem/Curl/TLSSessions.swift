import COperationNetworking

/// The TLS sessions that the handles of a trust domain share for session resumption: a `CURLSH *`; see
/// libcurl-share(3).
///
/// Used on one thread, like the handles, and therefore not locked. Each handle retains it, because libcurl
/// needs it until the last of them is released.
package final class TLSSessions {
    let pointer: OpaquePointer

    /// - Throws: if out of memory.
    package init() throws(CurlError) {
        CurlLibrary.initialize()
        guard let made = curl_share_init() else {
            throw CurlError(code: Int32(CURLE_OUT_OF_MEMORY.rawValue))
        }
        pointer = OpaquePointer(made)
        // If libcurl does not support it, each handshake is a full one.
        _ = clibcurl_share_setopt_data(made, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION)
    }

    deinit {
        curl_share_cleanup(UnsafeMutableRawPointer(pointer))
    }
}
