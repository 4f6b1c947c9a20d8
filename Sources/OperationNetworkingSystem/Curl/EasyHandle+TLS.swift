import COperationNetworking
import Foundation

extension EasyHandle {
    /// The protocol that the server chose in the TLS handshake, such as `h2` or `http/1.1`, if any. Callable
    /// from within the delegate.
    package var chosenProtocol: String? {
        var name: UnsafePointer<UInt8>?
        let length = Int(ctls_chosen_protocol(raw, &name))
        guard length > 0, let name else { return nil }
        return String(decoding: UnsafeBufferPointer(start: name, count: length), as: UTF8.self)
    }

    /// Sets the TLS options. The server's certificate is always verified; the judge decides about the result.
    func setTLS(_ options: TLSOptions) throws(CurlError) {
        try setAuthorities(options.authorities)
        if let identity = options.identity {
            try set(CURLOPT_SSLCERT_BLOB, identity.certificates)
            try set(CURLOPT_SSLKEY_BLOB, identity.privateKey)
        }
        try set(CURLOPT_SSLVERSION, Self.versions(options.versions))
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, options.checksHost ? 2 : 0)
        try set(CURLOPT_SSL_SESSIONID_CACHE, options.resumesSessions ? 1 : 0)
        guard options.judge != nil else { return }
        try check(clibcurl_easy_setopt_tls_callback(raw, EasyHandle.willStartTLS))
        try check(
            clibcurl_easy_setopt_pointer(raw, CURLOPT_SSL_CTX_DATA, Unmanaged.passUnretained(self).toOpaque())
        )
    }

    private func setAuthorities(_ authorities: TLSOptions.Authorities) throws(CurlError) {
        switch authorities {
        case .standard:
            break
        case .places(let file, let directory):
            try check(clibcurl_easy_setopt_string(raw, CURLOPT_CAINFO, file))
            try check(clibcurl_easy_setopt_string(raw, CURLOPT_CAPATH, directory))
        // libcurl caches a file's contents in the multi handle for a day (CURLOPT_CA_CACHE_TIMEOUT(3)); a
        // changed file needs another multi handle.
        case .certificates(let pem):
            try check(clibcurl_easy_setopt_string(raw, CURLOPT_CAINFO, nil))
            try check(clibcurl_easy_setopt_string(raw, CURLOPT_CAPATH, nil))
            // Without authorities no server is trusted; libcurl rejects an empty list.
            if !pem.isEmpty { try set(CURLOPT_CAINFO_BLOB, pem) }
        }
    }

    private static func versions(_ range: ClosedRange<Int>) -> Int {
        let lowest = [
            CURL_SSLVERSION_TLSv1_0, CURL_SSLVERSION_TLSv1_1, CURL_SSLVERSION_TLSv1_2,
            CURL_SSLVERSION_TLSv1_3,
        ]
        let index = { (version: Int) in max(0, min(3, version)) }
        // The maximum version uses the same numbers, in the upper half (CURLOPT_SSLVERSION(3)).
        return Int(lowest[index(range.lowerBound)]) | Int(lowest[index(range.upperBound)]) << 16
    }

    private func set(_ option: CURLoption, _ value: Data) throws(CurlError) {
        let code = value.withUnsafeBytes {
            clibcurl_easy_setopt_blob(raw, option, $0.baseAddress, $0.count)
        }
        try check(code)
    }
}
