public import Foundation
internal import Glibc
internal import OperationNetworkingSystem

extension URLError.Code {
    /// Foundation's code for a libcurl failure. Anything not listed is `.unknown`, and a test lists what is
    /// not.
    init(_ error: CurlError) {
        self =
            switch error.code {
            case 35, 55, 56: Self(ofTLS: error)
            case 1: .unsupportedURL  // CURLE_UNSUPPORTED_PROTOCOL
            case 3: .badURL  // CURLE_URL_MALFORMAT
            case 5: .cannotFindHost  // CURLE_COULDNT_RESOLVE_PROXY
            case 6: .cannotFindHost  // CURLE_COULDNT_RESOLVE_HOST
            // CURLE_COULDNT_CONNECT: there is no route to anything like that address, or no network.
            case 7 where [ENETUNREACH, ENETDOWN].contains(error.systemError): .notConnectedToInternet
            case 7: .cannotConnectToHost
            case 8: .badServerResponse  // CURLE_WEIRD_SERVER_REPLY
            case 16: .networkConnectionLost  // CURLE_HTTP2
            case 18: .networkConnectionLost  // CURLE_PARTIAL_FILE
            case 26: .requestBodyStreamExhausted  // CURLE_READ_ERROR
            case 28: .timedOut  // CURLE_OPERATION_TIMEDOUT
            case 47: .httpTooManyRedirects  // CURLE_TOO_MANY_REDIRECTS
            case 52: .networkConnectionLost  // CURLE_GOT_NOTHING
            case 58: .clientCertificateRejected  // CURLE_SSL_CERTPROBLEM
            case 59: .secureConnectionFailed  // CURLE_SSL_CIPHER
            case 60: .serverCertificateUntrusted  // CURLE_PEER_FAILED_VERIFICATION
            case 61: .cannotDecodeRawData  // CURLE_BAD_CONTENT_ENCODING
            case 63: .dataLengthExceedsMaximum  // CURLE_FILESIZE_EXCEEDED
            case 65: .requestBodyStreamExhausted  // CURLE_SEND_FAIL_REWIND
            case 66, 53, 54: .secureConnectionFailed  // CURLE_SSL_ENGINE_*
            case 77: .secureConnectionFailed  // CURLE_SSL_CACERT_BADFILE
            case 80: .secureConnectionFailed  // CURLE_SSL_SHUTDOWN_FAILED
            case 82, 83: .serverCertificateUntrusted  // CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR
            case 90: .serverCertificateUntrusted  // CURLE_SSL_PINNEDPUBKEYNOTMATCH
            case 91: .serverCertificateUntrusted  // CURLE_SSL_INVALIDCERTSTATUS
            case 92: .networkConnectionLost  // CURLE_HTTP2_STREAM
            case 95: .networkConnectionLost  // CURLE_HTTP3
            case 97: .cannotConnectToHost  // CURLE_PROXY
            case 98: .clientCertificateRequired  // CURLE_SSL_CLIENTCERT
            case 99: .unknown  // CURLE_UNRECOVERABLE_POLL
            default: .unknown
            }
    }

    /// The code of CURLE_SSL_CONNECT_ERROR, CURLE_SEND_ERROR and CURLE_RECV_ERROR. With TLS 1.3 a server says
    /// that it refuses the client's certificate when the handshake is over for the client.
    private init(ofTLS error: CurlError) {
        self =
            switch error.alert {
            case nil:
                error.code != 35 || error.isLostHandshake ? .networkConnectionLost : .secureConnectionFailed
            case "certificate required": .clientCertificateRequired
            case let alert? where Self.alertsOfRefusedCertificates.contains(alert): .clientCertificateRejected
            default: error.code == 35 ? .secureConnectionFailed : .networkConnectionLost
            }
    }

    /// [RFC 8446 §6.2](https://www.rfc-editor.org/rfc/rfc8446#section-6.2), in the words of OpenSSL.
    private static let alertsOfRefusedCertificates: Set<Substring> = [
        "bad certificate", "unsupported certificate", "certificate revoked", "certificate expired",
        "certificate unknown", "unknown ca", "access denied",
    ]
}

extension CurlError {
    /// Whether the connection was lost before TLS was set up, and no certificate is to blame.
    var isLostHandshake: Bool {
        code == 35
            && (Self.wordsOfLosses.contains { message.contains($0) }
                // It may be of another connection.
                || !message.contains("SSL routines") && Self.losses.contains(systemError))
    }

    /// The alert by which the other side ended TLS, in the words of OpenSSL; `nil`: there was none.
    var alert: Substring? {
        guard message.contains("SSL"), let start = message.range(of: " alert ")?.upperBound else {
            return nil
        }
        return message[start...].prefix { $0 != "," }
    }

    private static let losses: Set<Int32> = [ECONNRESET, EPIPE, ETIMEDOUT]
    private static let wordsOfLosses = [
        "SSL_ERROR_SYSCALL in connection", "unexpected eof while reading", "Recv failure: ", "Send failure: ",
    ]
}

extension URLError {
    /// The key, in `userInfo`, of the `CURLcode`, an `Int`; see libcurl-errors(3).
    public static let curlCodeKey = "OperationNetworking.curlCode"

    fileprivate static let hasNoDescriptors =
        "The process has no file descriptors left (see RLIMIT_NOFILE, ulimit -n): "

    static let hasNoThreads =
        "The process can have no more threads (see RLIMIT_NPROC, ulimit -u, and pids.max of a container): "

    /// The `CURLcode` behind a transport failure; `nil` when libcurl saw nothing wrong, and the judgement was
    /// ours.
    public var curlCode: Int? {
        userInfo[Self.curlCodeKey] as? Int
    }

    init(_ code: Code, url: URL?, sentence: String, curlCode: Int? = nil, underlying: (any Error)? = nil) {
        var userInfo: [String: Any] = [NSLocalizedDescriptionKey: sentence]
        if let url {
            userInfo[NSURLErrorFailingURLErrorKey] = url.withoutUserInformation
        }
        userInfo[Self.curlCodeKey] = curlCode
        userInfo[NSUnderlyingErrorKey] = underlying
        self.init(code, userInfo: userInfo)
    }

    /// The end of an operation that got more than the rest of its body.
    static func tooLong(url: URL?) -> URLError {
        URLError(.badServerResponse, url: url, sentence: "The server sent more bytes than it had announced.")
    }

    /// Only a stored response was wanted, and there is none.
    static func nothingStored(for url: URL?) -> URLError {
        URLError(
            .resourceUnavailable,
            url: url,
            sentence: "Nothing is stored for this request, and its cachePolicy lets nothing be fetched."
        )
    }

    /// The end of an operation that was sent from https to this http address.
    static func insecure(url: URL?) -> URLError {
        URLError(
            .appTransportSecurityRequiresSecureConnection,
            url: url,
            sentence:
                "An https address was replaced by one without TLS: \(url?.originText.excerpt() ?? "none")."
        )
    }

    /// The end of an operation that was redirected more than `count` times.
    static func tooManyRedirects(_ count: Int, url: URL?) -> URLError {
        URLError(
            .httpTooManyRedirects,
            url: url,
            sentence: "The server redirected more than \(count) \(count == 1 ? "time" : "times")."
        )
    }

    /// The end of an operation that was sent to several places at once.
    static func conflictingLocations(_ locations: [String], url: URL?) -> URLError {
        URLError(
            .badServerResponse,
            url: url,
            sentence: "The server sent \(locations.count) Locations that differ."
        )
    }

    /// The end of an operation whose challenge was refused.
    static func refusedAuthentication(url: URL?) -> URLError {
        URLError(
            .userCancelledAuthentication,
            url: url,
            sentence: "The server asked who it is, and was to get no answer."
        )
    }

    /// The end of an operation that ran for `seconds`, and was not done.
    static func tookTooLong(_ seconds: Double, url: URL?) -> URLError {
        URLError(
            .timedOut,
            url: url,
            sentence:
                "The request was not done after \(TransferError.text(seconds)): see timeouts.total."
        )
    }

    /// The end of an operation that was cancelled.
    static func cancelled(url: URL?) -> URLError {
        URLError(.cancelled, url: url, sentence: "The operation was cancelled.")
    }
}

extension TransferError {
    /// The value of an operation's `error`. A failure of the client's or of the user's stream stays what it
    /// is.
    func error(for url: URL) -> any Error {
        switch self {
        case .curl(let error):
            return error.urlError(for: url)
        case .untrusted(let error):
            return error
        case .idle(let seconds):
            return URLError(
                .timedOut,
                url: url,
                sentence: "No byte came or went for \(Self.text(seconds))."
            )
        case .slowHead(let seconds):
            return URLError(
                .timedOut,
                url: url,
                sentence:
                    "The response's head, or what stands between the bytes of its body, did not end within "
                    + "\(Self.text(seconds))."
            )
        case .length(.malformedLength(let value)):
            return URLError(
                .badServerResponse,
                url: url,
                sentence: "The server's Content-Length is not a length: \"\(value.excerpt())\"."
            )
        case .length(.conflictingLengths(let values)):
            return URLError(
                .badServerResponse,
                url: url,
                sentence: "The server sent Content-Lengths that differ: \(values.excerpt())."
            )
        case .length(.unknownTransferCoding(let value)):
            return URLError(
                .badServerResponse,
                url: url,
                sentence: "The server sent a transfer coding that was not asked for: \"\(value.excerpt())\"."
            )
        case .truncatedHead:
            return URLError(
                .networkConnectionLost,
                url: url,
                sentence: "The connection ended inside the response's head."
            )
        case .malformedHead(let reason):
            return URLError(
                .badServerResponse,
                url: url,
                sentence: "The response's head is malformed: \(reason)."
            )
        case .headTooLong(let limit):
            return URLError(.badServerResponse, url: url, sentence: limit.sentence)
        case .cannotStart(let error):
            // Not one to try again by itself: waiting needs a descriptor, too.
            return URLError(
                .resourceUnavailable,
                url: url,
                sentence: URLError.hasNoDescriptors + "the network thread could not start",
                underlying: error.posixError
            )
        case .noThread(let error):
            return URLError(
                .resourceUnavailable,
                url: url,
                sentence: URLError.hasNoThreads + "the network thread could not be made",
                underlying: error.posixError
            )
        case .wrongLength(let declared, let received):
            return URLError(
                received < declared ? .networkConnectionLost : .badServerResponse,
                url: url,
                sentence:
                    "The server announced \(declared) bytes, and the connection ended after \(received)."
            )
        case .bodyCannotWait:
            return URLError(
                .badServerResponse,
                url: url,
                sentence: "The proxy cannot let a body wait (417), and was not sent it at once."
            )
        case .noConnectionLeft:
            return URLError(
                .cannotConnectToHost,
                url: url,
                sentence: "The server has as many connections as it may have: see maximumConnectionsPerHost."
            )
        case .connectionNotQuiet, .connectionTimedOut:
            return URLError(
                .networkConnectionLost,
                url: url,
                sentence: "The server sent something, or ended the connection, before it was asked."
            )
        case .expired:
            return URLError(
                .userAuthenticationRequired,
                url: url,
                sentence: "The token expired while the request waited for a connection."
            )
        case .httpVersionNotAgreed:
            return URLError(
                .secureConnectionFailed,
                url: url,
                sentence: "The server did not agree to speak HTTP/1.1."
            )
        case .endNotProvable:
            return URLError(
                .badServerResponse,
                url: url,
                sentence:
                    "The HTTP/2 response has no length, so its end cannot be told from a reset, and the server "
                    + "speaks no HTTP/1.1."
            )
        case .missingCloseNotify:
            return URLError(
                .networkConnectionLost,
                url: url,
                sentence:
                    "The connection closed without saying that it was the end, so the body may be incomplete."
            )
        case .decoding(.truncated):
            return URLError(
                .cannotDecodeRawData,
                url: url,
                sentence: "The body ended before its content coding was complete."
            )
        case .decoding(.malformed(let reason)):
            return URLError(
                .cannotDecodeRawData,
                url: url,
                sentence: "The body does not match its content coding: \(reason)."
            )
        case .unaskedCoding(let coding):
            return URLError(
                .cannotDecodeContentData,
                url: url,
                sentence:
                    "The server sent the body in a content coding that was not asked for: \(coding.excerpt())."
            )
        case .unaskedPartialContent:
            return URLError(
                .badServerResponse,
                url: url,
                sentence: "The server sent a part (206) that was not asked for."
            )
        case .notSentAgain:
            return URLError(
                .networkConnectionLost,
                url: url,
                sentence:
                    "The connection was lost before an answer came. The server may have done what was asked, "
                    + "so it was not asked again."
            )
        case .brokenOff:
            return URLError(
                .networkConnectionLost,
                url: url,
                sentence: "The server broke off its response, and wants to be asked again."
            )
        case .bodyNotRepeatable:
            return URLError(
                .requestBodyStreamExhausted,
                url: url,
                sentence: "The request's body must be sent again, and its stream can be read only once."
            )
        case .endlessChallenges:
            return URLError(
                .userAuthenticationRequired,
                url: url,
                sentence: "The server asked again and again who it is, and took no answer."
            )
        case .endlessAnswer:
            return URLError(
                .badServerResponse,
                url: url,
                sentence:
                    "An answer that asks who is there has a body that does not end, or not soon: nothing was sent after it."
            )
        case .refused:
            return URLError(.badServerResponse, url: url, sentence: "The response was refused.")
        case .proxy(let error):
            return error
        case .client(let error), .body(let error):
            return error
        }
    }

    fileprivate static func text(_ seconds: Double) -> String {
        let number = Int(exactly: seconds).map { String($0) } ?? String(seconds)
        return seconds == 1 ? "1 second" : "\(number) seconds"
    }
}

extension CurlError {
    /// Whether libcurl could not make the thread that resolves a name: it has no code of its own for that.
    private var hasNoThreads: Bool { message == "getaddrinfo() thread failed to start" }

    /// Whether the process may have no descriptors more.
    var hasNoDescriptors: Bool { systemError == 24 }  // EMFILE

    func urlError(for url: URL) -> URLError {
        // libcurl only says that it has no socket; the remedy is not in the server.
        let hasNoDescriptors = hasNoDescriptors || systemError == 23  // ENFILE
        return URLError(
            URLError.Code(self),
            url: url,
            sentence: hasNoDescriptors
                ? URLError.hasNoDescriptors + message
                : hasNoThreads ? URLError.hasNoThreads + "a name could not be resolved" : message,
            curlCode: Int(code),
            underlying: systemError == 0 ? nil : SystemError(systemError, "libcurl").posixError
        )
    }
}

extension SystemError {
    fileprivate var posixError: any Error { NSError(domain: NSPOSIXErrorDomain, code: Int(code)) }
}
