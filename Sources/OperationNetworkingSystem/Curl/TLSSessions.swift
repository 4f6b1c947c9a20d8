import COperationNetworking

/// The TLS sessions that the handles of a trust domain share, so that a later handshake can be a short one: a
/// `CURLSH *`; see libcurl-share(3).
///
/// Used on one thread, like the handles, so nothing is locked. Each handle keeps it: libcurl needs it until
/// the last of them is gone.
package final class TLSSessions {
    let pointer: OpaquePointer

    /// - Throws: when there is no memory.
    package init() throws(CurlError) {
        CurlLibrary.initialize()
        guard let made = curl_share_init() else {
            throw CurlError(code: Int32(CURLE_OUT_OF_MEMORY.rawValue))
        }
        pointer = OpaquePointer(made)
        // A libcurl without it goes without: each handshake is a long one.
        _ = clibcurl_share_setopt_data(made, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION)
    }

    deinit {
        curl_share_cleanup(UnsafeMutableRawPointer(pointer))
    }
}
