import COperationNetworking

// libcurl's cookie engine, which implements RFC 6265 and the public suffix list. Its cookies are lines of
// Netscape's file format; see CURLOPT_COOKIELIST(3).
extension EasyHandle {
    func startCookies() throws(CurlError) {
        try check(clibcurl_easy_setopt_string(raw, CURLOPT_COOKIEFILE, ""))
    }

    /// Replaces all cookies of the engine, including received ones. Callable from within the delegate.
    package func replaceCookies(_ lines: [String]) throws(CurlError) {
        hasCookies = true
        try setCookies(lines)
    }

    /// Sets all cookies of the engine.
    func setCookies(_ lines: [String]) throws(CurlError) {
        if hasCookies {
            try check(clibcurl_easy_setopt_string(raw, CURLOPT_COOKIELIST, "ALL"))
            hasCookies = false
        }
        for line in lines {
            hasCookies = true
            try check(clibcurl_easy_setopt_string(raw, CURLOPT_COOKIELIST, line))
        }
    }

    /// The number of cookies that the server has sent.
    package var receivedCookies: Int { trace.receivedCookies }

    /// Records that the server has sent a cookie.
    package func didReceiveCookie() {
        trace.receivedCookies += 1
    }

    /// The current cookies of the engine, with the server's changes. Callable from within the delegate.
    /// Cookies that are not UTF-8 are omitted, because their repaired form would differ.
    package var cookieLines: [String] {
        var list: UnsafeMutablePointer<curl_slist>?
        clibcurl_easy_getinfo_list(raw, CURLINFO_COOKIELIST, &list)
        defer { curl_slist_free_all(list) }
        var lines: [String] = []
        var next = list
        while let entry = next {
            if let text = entry.pointee.data.flatMap({ String(validatingCString: $0) }) { lines.append(text) }
            next = entry.pointee.next
        }
        return lines
    }
}
