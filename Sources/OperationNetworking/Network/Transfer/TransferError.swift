internal import OperationNetworkingSystem

/// Why a transfer failed.
enum TransferError: Error, Sendable {
    /// libcurl reported an error.
    case curl(CurlError)
    /// The process has too few descriptors left for the network thread's own.
    case cannotStart(SystemError)
    /// The process cannot create the network thread.
    case noThread(SystemError)
    /// The security policy rejected the server.
    case untrusted(ServerTrustError)
    /// `seconds` passed without a byte.
    case idle(seconds: Double)
    /// A head, or the framing within a body, did not end within `seconds`.
    case slowHead(seconds: Double)
    /// The response's length cannot be determined.
    case length(MessageLength.Failure)
    /// The connection ended inside the head.
    case truncatedHead
    /// The head is malformed; the value says how.
    case malformedHead(String)
    /// The head, or the trailers, exceed a limit.
    case headTooLong(HeadLimit)
    /// The body did not end at its declared length.
    case wrongLength(declared: Int64, received: Int64)
    /// The body ends with the connection, which was closed without a TLS close notification (RFC 8446 §6.1).
    case missingCloseNotify
    /// The body violates its content coding, or breaks off.
    case decoding(ContentDecodingFailure)
    /// The body has a content coding that was not requested and cannot be decoded.
    case unrequestedCoding(String)
    /// The response is a 206 to a request without a range (RFC 9110 §15.3.7).
    case unrequestedPartialContent
    /// Nothing would prove that the body is complete; see ``EndProof``. ``Transfers`` repeats the request, so
    /// this is only visible if the server supports only HTTP/2.
    case endNotProvable
    /// The body was to wait for a proxy that does not support that; none of it was sent. Only seen by
    /// ``Transfers``, which repeats the request.
    case bodyCannotWait
    /// The server would exceed its limit of connections: the transfer waits in the line again. Nothing was
    /// sent. Only seen by ``Transfers``, which repeats the request.
    case noConnectionLeft
    /// The server had sent something on the connection, or closed it, before the request was sent: a reused
    /// connection is only trusted while it is quiet. Nothing was sent. ``Transfers`` repeats the request, so
    /// this is only visible if libcurl continues on a connection that was opened for the request, as for
    /// NTLM.
    case connectionNotQuiet
    /// The first response on a reused connection is a 408 that closes it: the server had not waited for the
    /// request ([RFC 9110 §15.5.9](https://www.rfc-editor.org/rfc/rfc9110#section-15.5.9)). Only seen by
    /// ``Transfers``, which repeats the request.
    case connectionTimedOut
    /// The request's token had expired when a connection was available: see ``TransferRequest/expiry``.
    /// Nothing was sent. The exchange repeats the request.
    case expired
    /// The server does not accept HTTP/1.1, or may not. Only seen by ``Transfers``, which offers HTTP/2.
    case httpVersionNotAgreed
    /// The client threw an error while receiving the body.
    case client(any Error)
    /// The client rejected the body, or it is unusable; the head is the response.
    case refused
    /// The stream of the request's body failed.
    case body(any Error)
    /// The connection died after a part of the request was sent and before a response, and the request must
    /// not be sent twice.
    case notSentAgain
    /// The response broke off, and libcurl was about to request another one.
    case brokenOff
    /// The request did not get through its proxy.
    case proxy(ProxyError)
    /// The request's body has to be sent again, but can be read only once.
    case bodyNotRepeatable
    /// The server requests credentials again and again.
    case endlessChallenges
    /// A body that libcurl reads itself does not end; see ``DiscardedByteCounter``.
    case endlessAnswer
}
