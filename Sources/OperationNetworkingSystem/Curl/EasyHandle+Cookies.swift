import COperationNetworking

// libcurl's cookie engine: it knows RFC 6265 and the list of public suffixes. Its cookies are lines of Netscape's file
// format; see CURLOPT_COOKIELIST(3).
extension EasyHandle {
    /// Turns the engine on, with these cookies and no others.
    func setCookies(_ lines: [String]) throws(CurlError) {
        hasCookieEngine = true
        try check(clibcurl_easy_setopt_string(raw, CURLOPT_COOKIEFILE, ""))
        for line in lines { try check(clibcurl_easy_setopt_string(raw, CURLOPT_COOKIELIST, line)) }
    }

    /// Turns the engine off. curl_easy_reset(3) keeps it, and its cookies: the next transfer, of somebody else, would
    /// send them.
    func forgetCookies() {
        guard hasCookieEngine else { return }
        clibcurl_easy_setopt_string(raw, CURLOPT_COOKIELIST, "ALL")
        clibcurl_easy_setopt_string(raw, CURLOPT_COOKIEFILE, nil)
        hasCookieEngine = false
    }

    /// Says that the server has sent a cookie. libcurl 7.88 takes at most 50 with one response, and still none after
    /// those when the next ones are set before the next request.
    package func didReceiveCookie() {
        receivedCookies += 1
        if receivedCookies >= Self.maximumCookies { isReusable = false }
    }

    private static var maximumCookies: Int { 50 }

    /// What the engine has now: what it was given, as the server changed it. Callable from within the delegate.
    package var cookieLines: [String] {
        var list: UnsafeMutablePointer<curl_slist>?
        clibcurl_easy_getinfo_list(raw, CURLINFO_COOKIELIST, &list)
        defer { curl_slist_free_all(list) }
        var lines: [String] = []
        var next = list
        while let entry = next {
            if let text = entry.pointee.data { lines.append(String(cString: text)) }
            next = entry.pointee.next
        }
        return lines
    }
}
