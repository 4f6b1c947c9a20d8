internal import OperationNetworkingSystem

/// Why a transfer ended before its time.
enum TransferError: Error, Sendable {
    /// libcurl says so.
    case curl(CurlError)
    /// The process has too few descriptors left for the network thread's own.
    case cannotStart(SystemError)
    /// The process can have no network thread.
    case noThread(SystemError)
    /// The server is not one to talk to.
    case untrusted(ServerTrustError)
    /// `seconds` passed without a byte.
    case idle(seconds: Double)
    /// A head, or what stands between the bytes of a body, did not end within `seconds`.
    case slowHead(seconds: Double)
    /// The response's length cannot be known.
    case length(MessageLength.Failure)
    /// The connection ended inside the head.
    case truncatedHead
    /// The head is not one that can be trusted to mean what it seems to mean; how so.
    case malformedHead(String)
    /// The head, or what is like it, is longer than anything that is read.
    case headTooLong(HeadLimit)
    /// The body did not end at its declared length.
    case wrongLength(declared: Int64, received: Int64)
    /// The body lasts until the connection closes, and TLS did not say that this was the end (RFC 8446 §6.1).
    case missingCloseNotify
    /// The body is not what its content coding says, or breaks off.
    case decoding(ContentDecodingFailure)
    /// A content coding that was not asked for, and cannot be undone here.
    case unaskedCoding(String)
    /// 206 to a request that did not ask for a range (RFC 9110 §15.3.7).
    case unaskedPartialContent
    /// Nothing would prove that the body is complete; see ``EndProof``. Only seen by ``Transfers``, which
    /// asks again, and where the server has HTTP/2 only.
    case endNotProvable
    /// The body was to wait for a proxy that cannot do that; none of it was sent. Only seen by ``Transfers``,
    /// which asks again.
    case bodyCannotWait
    /// The server would have more connections than it may have: the transfer waits in the line again. Nothing
    /// was sent. Only seen by ``Transfers``, which asks again.
    case noConnectionLeft
    /// The server had said something on the connection, or had ended it, before the request was sent: a
    /// connection that was kept is believed only while it is quiet. Nothing was sent. Only seen by
    /// ``Transfers``, which asks again, and where libcurl goes on over a connection that was opened for the
    /// request, as for NTLM.
    case connectionNotQuiet
    /// The first thing on a connection that was kept is a 408 that ends it: the server had not waited for
    /// the request ([RFC 9110 §15.5.9](https://www.rfc-editor.org/rfc/rfc9110#section-15.5.9)). Only seen by
    /// ``Transfers``, which asks again.
    case connectionTimedOut
    /// The request's token had expired when a connection came: see ``TransferRequest/expiry``. Nothing was sent. The
    /// exchange asks again.
    case expired
    /// The server takes no HTTP/1.1, or may take none. Only seen by ``Transfers``, which offers HTTP/2.
    case httpVersionNotAgreed
    /// The client threw while it took the body.
    case client(any Error)
    /// The client did not want the body, or it cannot be had; the head is the response.
    case refused
    /// The stream that the request's body comes from failed.
    case body(any Error)
    /// The connection died when some of the request had gone out and nothing had come back, and the request
    /// is not one to be sent twice.
    case notSentAgain
    /// The response broke off, and libcurl was about to ask for another one.
    case brokenOff
    /// The request did not get through its proxy.
    case proxy(ProxyError)
    /// The request's body would have to be sent again, and can be read only once.
    case bodyNotRepeatable
    /// The server asks for credentials again and again.
    case endlessChallenges
    /// The body of an answer that libcurl reads by itself does not end; see ``DiscardedByteCounter``.
    case endlessAnswer
}
