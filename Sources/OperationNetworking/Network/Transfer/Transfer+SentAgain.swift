internal import OperationNetworkingSystem

// A request that libcurl sends again by itself, although its response has begun: two would become one.
extension Transfer {
    /// Whether libcurl takes the head, which is the server's, for a question to itself: it would drop the
    /// body and send the request again. So the response ends here.
    ///
    /// | The head                                | libcurl would send again, with                       |
    /// |-----------------------------------------|------------------------------------------------------|
    /// | 407 with a challenge, not by a proxy    | the proxy's credentials (RFC 9110 §11.7.1)           |
    /// | 417, before the whole body was sent     | the same `Expect`, and the body (RFC 9110 §15.5.18)  |
    func asksLibcurlAgain(_ head: ResponseHead) -> Bool {
        switch head.status {
        case 407:
            !request.isAskedOfProxy && request.trustDomain.proxy?.hasCredentials == true
                && head.fields["Proxy-Authenticate"] != nil
        case 417:
            !outgoing.isAtEnd
                && request.fields.combined(for: "Expect")?.lowercased().contains("100-continue") == true
        default: false
        }
    }

    /// The request must not go out again. What libcurl has dropped of a 417 is of no use. Else the response
    /// has broken off, as when a stream of HTTP/2 is reset with `HTTP_1_1_REQUIRED` (RFC 9113 §7).
    func endInsteadOfSendingAgain() -> Bool {
        guard heads.head?.status == 417, incoming?.received == 0 else { return give(up: .brokenOff) }
        return give(up: .refused)
    }
}
