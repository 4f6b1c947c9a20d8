import COperationNetworking

// libcurl's cookie engine: it knows RFC 6265 and the list of public suffixes. Its cookies are lines of
// Netscape's file format; see CURLOPT_COOKIELIST(3).
extension EasyHandle {
    func startCookies() throws(CurlError) {
        try check(clibcurl_easy_setopt_string(raw, CURLOPT_COOKIEFILE, ""))
    }

    /// Has the engine know these cookies and no others, whatever it has received. Callable from within the
    /// delegate.
    package func replaceCookies(_ lines: [String]) throws(CurlError) {
        hasCookies = true
        try setCookies(lines)
    }

    /// Has the engine know these cookies and no others.
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

    /// Says that the server has sent a cookie.
    package func didReceiveCookie() {
        trace.receivedCookies += 1
    }

    /// The cookies of the engine now: those it was given, as the server changed them. Callable from within
    /// the delegate. Those that are not UTF-8 are left out: repaired, they would be sent back as others.
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
