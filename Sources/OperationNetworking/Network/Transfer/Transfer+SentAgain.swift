internal import OperationNetworkingSystem

// Requests that libcurl sends again by itself. It calls `easyHandleWillSendRequest` before each sending, and
// has a body read from its start; both refuse where the server may have acted on the first one. Measured with
// 7.88.1, on a connection that was used before:
//
// | The connection ends                              | libcurl                    | here, if the method is not idempotent |
// |--------------------------------------------------|----------------------------|---------------------------------------|
// | before the request                               | opens another one          | the same                              |
// | after the server read all or a part of it        | sends it again             | `networkConnectionLost`               |
// | after a byte of the response; on a new connection | fails                     | the same                              |
//
// If `CURLINFO_REQUEST_SIZE` has not moved since the first sending, no connection took a byte, and it may be
// sent again. A CONNECT counts in that number, so behind a proxy it may not. HTTP/2's `REFUSED_STREAM` (RFC
// 9113 §8.7) cannot be distinguished from other failures. A request that is sent again after the head of its response
// was accepted would make one response of two:
extension Transfer {
    /// Whether libcurl mistakes the server's head for one that it has to answer: it would drop the body and
    /// send the request again. So the response ends here.
    ///
    /// | The head                                | libcurl would repeat the request with                |
    /// |-----------------------------------------|------------------------------------------------------|
    /// | 407 with a challenge, not by a proxy    | the proxy's credentials (RFC 9110 §11.7.1)           |
    /// | 417, before the whole body was sent     | the same `Expect`, and the body (RFC 9110 §15.5.18)  |
    func isMistakenForChallenge(_ head: ResponseHead) -> Bool {
        switch head.status {
        case 407:
            !request.goesToProxy && request.trustDomain.proxy?.hasCredentials == true
                && head.fields["Proxy-Authenticate"] != nil
        case 417:
            !outgoing.isAtEnd
                && request.fields.combined(for: "Expect")?.lowercased().contains("100-continue") == true
        default: false
        }
    }

    /// Ends the transfer, because the request must not be sent again. The dropped body of a 417 is not
    /// needed. Any other response has broken off, for example because an HTTP/2 stream was reset with
    /// `HTTP_1_1_REQUIRED` (RFC 9113 §7).
    func endInsteadOfSendingAgain() -> Bool {
        guard heads.status == 417, incoming?.received == 0 else { return give(up: .brokenOff) }
        return give(up: .refused)
    }
}
