public import Foundation
internal import Glibc
internal import OperationNetworkingSystem

extension URLError.Code {
    /// Maps a libcurl error to Foundation's code. Errors that are not listed become `.unknown`; a test lists
    /// them.
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

    /// Maps CURLE_SSL_CONNECT_ERROR, CURLE_SEND_ERROR and CURLE_RECV_ERROR. With TLS 1.3 a server rejects the
    /// client's certificate after the handshake is complete for the client.
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

    /// The alerts of [RFC 8446 §6.2](https://www.rfc-editor.org/rfc/rfc8446#section-6.2), as OpenSSL names
    /// them.
    private static let alertsOfRefusedCertificates: Set<Substring> = [
        "bad certificate", "unsupported certificate", "certificate revoked", "certificate expired",
        "certificate unknown", "unknown ca", "access denied",
    ]
}

extension CurlError {
    /// Whether the connection was lost before TLS was established, without a certificate error.
    var isLostHandshake: Bool {
        code == 35
            && (Self.wordsOfLosses.contains { message.contains($0) }
                // The system error may be from another connection.
                || !message.contains("SSL routines") && Self.losses.contains(systemError))
    }

    /// The alert with which the peer ended TLS, as OpenSSL names it; `nil` if there was none.
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
    /// The `userInfo` key of the `CURLcode`, an `Int`: see libcurl-errors(3).
    public static let curlCodeKey = "OperationNetworking.curlCode"

    fileprivate static let hasNoDescriptors =
        "The process has no file descriptors left (see RLIMIT_NOFILE, ulimit -n): "

    static let hasNoThreads =
        "The process cannot create more threads (see RLIMIT_NPROC, ulimit -u, and pids.max of a container): "

    /// The `CURLcode` of a transport failure; `nil` if the error was detected by this library rather than
    /// libcurl.
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

    /// The error of an operation that received more than the rest of its body.
    static func tooLong(url: URL?) -> URLError {
        URLError(.badServerResponse, url: url, sentence: "The server sent more bytes than it had announced.")
    }

    /// The error of an operation that only wants a stored response, if there is none.
    static func nothingStored(for url: URL?) -> URLError {
        URLError(
            .resourceUnavailable,
            url: url,
            sentence: "Nothing is stored for this request, and its cachePolicy forbids fetching it."
        )
    }

    /// The error of an operation that was sent from https to this http address.
    static func insecure(url: URL?) -> URLError {
        URLError(
            .appTransportSecurityRequiresSecureConnection,
            url: url,
            sentence:
                "An https address was replaced by an http address: \(url?.originText.excerpt() ?? "none")."
        )
    }

    /// The error of an operation that was redirected more than `count` times.
    static func tooManyRedirects(_ count: Int, url: URL?) -> URLError {
        URLError(
            .httpTooManyRedirects,
            url: url,
            sentence: "The server redirected more than \(count) \(count == 1 ? "time" : "times")."
        )
    }

    /// The error of an operation that was redirected to several locations at once.
    static func conflictingLocations(_ locations: [String], url: URL?) -> URLError {
        URLError(
            .badServerResponse,
            url: url,
            sentence: "The server sent \(locations.count) different Location fields."
        )
    }

    /// The error of an operation whose challenge was refused.
    static func refusedAuthentication(url: URL?) -> URLError {
        URLError(
            .userCancelledAuthentication,
            url: url,
            sentence: "The server's authentication challenge was refused."
        )
    }

    /// The error of an operation that did not finish within `seconds`.
    static func tookTooLong(_ seconds: Double, url: URL?) -> URLError {
        URLError(
            .timedOut,
            url: url,
            sentence:
                "The request did not finish within \(TransferError.text(seconds)): see timeouts.total."
        )
    }

    /// The error of an operation that was cancelled.
    static func cancelled(url: URL?) -> URLError {
        URLError(.cancelled, url: url, sentence: "The operation was cancelled.")
    }
}

extension TransferError {
    /// Returns the value of an operation's `error`. An error of the client or of the user's stream is
    /// returned unchanged.
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
                sentence: "No data was sent or received for \(Self.text(seconds))."
            )
        case .slowHead(let seconds):
            return URLError(
                .timedOut,
                url: url,
                sentence:
                    "The response's head, or the framing of its body, did not end within "
                    + "\(Self.text(seconds))."
            )
        case .length(.malformedLength(let value)):
            return URLError(
                .badServerResponse,
                url: url,
                sentence: "The server sent an invalid Content-Length: \"\(value.excerpt())\"."
            )
        case .length(.conflictingLengths(let values)):
            return URLError(
                .badServerResponse,
                url: url,
                sentence: "The server sent conflicting Content-Length values: \(values.excerpt())."
            )
        case .length(.unknownTransferCoding(let value)):
            return URLError(
                .badServerResponse,
                url: url,
                sentence: "The server sent an unsupported transfer coding: \"\(value.excerpt())\"."
            )
        case .truncatedHead:
            return URLError(
                .networkConnectionLost,
                url: url,
                sentence: "The connection ended within the response's head."
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
            // Not retried automatically: waiting needs a descriptor, too.
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
                sentence: URLError.hasNoThreads + "the network thread could not be created",
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
                sentence: "The proxy does not support Expect: 100-continue (417), so the body was not sent."
            )
        case .noConnectionLeft:
            return URLError(
                .cannotConnectToHost,
                url: url,
                sentence: "The server's connection limit is reached: see maximumConnectionsPerHost."
            )
        case .connectionNotQuiet, .connectionTimedOut:
            return URLError(
                .networkConnectionLost,
                url: url,
                sentence: "The server sent data, or closed the connection, before the request was sent."
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
                sentence: "The server did not agree to use HTTP/1.1."
            )
        case .endNotProvable:
            return URLError(
                .badServerResponse,
                url: url,
                sentence:
                    "The HTTP/2 response has no length, so its end cannot be distinguished from a reset, "
                    + "and the server does not support HTTP/1.1."
            )
        case .missingCloseNotify:
            return URLError(
                .networkConnectionLost,
                url: url,
                sentence:
                    "The connection closed without a TLS close notification, so the body may be incomplete."
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
        case .unrequestedCoding(let coding):
            return URLError(
                .cannotDecodeContentData,
                url: url,
                sentence:
                    "The server sent the body in a content coding that was not requested: \(coding.excerpt())."
            )
        case .unrequestedPartialContent:
            return URLError(
                .badServerResponse,
                url: url,
                sentence: "The server sent a partial response (206) that was not requested."
            )
        case .notSentAgain:
            return URLError(
                .networkConnectionLost,
                url: url,
                sentence:
                    "The connection was lost before a response arrived. The server may have processed the "
                    + "request, so it was not sent again."
            )
        case .brokenOff:
            return URLError(
                .networkConnectionLost,
                url: url,
                sentence: "The server aborted its response and asked for the request to be repeated."
            )
        case .bodyNotRepeatable:
            return URLError(
                .requestBodyStreamExhausted,
                url: url,
                sentence: "The request's body has to be sent again, but its stream can be read only once."
            )
        case .endlessChallenges:
            return URLError(
                .userAuthenticationRequired,
                url: url,
                sentence: "The server requested credentials again and again."
            )
        case .endlessAnswer:
            return URLError(
                .badServerResponse,
                url: url,
                sentence:
                    "The body of an authentication challenge did not end in time, so the challenge was not answered."
            )
        case .refused:
            return URLError(.badServerResponse, url: url, sentence: "The response was rejected.")
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
    /// Whether libcurl could not create the thread that resolves a name: it has no separate code for that.
    private var hasNoThreads: Bool { message == "getaddrinfo() thread failed to start" }

    /// Whether the process has no descriptors left.
    var hasNoDescriptors: Bool { systemError == 24 }  // EMFILE

    func urlError(for url: URL) -> URLError {
        // libcurl only reports that it has no socket; the server is not the cause.
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
