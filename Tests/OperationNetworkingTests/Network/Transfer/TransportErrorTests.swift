import Foundation
import FoundationNetworking
import Glibc
import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct TransportErrorTests {
    private static let url = URL(fileURLWithPath: "/")

    static let codes: [(Int32, URLError.Code)] = [
        (1, .unsupportedURL), (3, .badURL), (5, .cannotFindHost), (6, .cannotFindHost),
        (7, .cannotConnectToHost), (8, .badServerResponse), (16, .networkConnectionLost),
        (18, .networkConnectionLost), (26, .requestBodyStreamExhausted), (28, .timedOut),
        (35, .secureConnectionFailed), (47, .httpTooManyRedirects), (52, .networkConnectionLost),
        (53, .secureConnectionFailed), (54, .secureConnectionFailed), (55, .networkConnectionLost),
        (56, .networkConnectionLost), (58, .clientCertificateRejected), (59, .secureConnectionFailed),
        (60, .serverCertificateUntrusted), (61, .cannotDecodeRawData), (63, .dataLengthExceedsMaximum),
        (65, .requestBodyStreamExhausted), (66, .secureConnectionFailed), (77, .secureConnectionFailed),
        (80, .secureConnectionFailed), (82, .serverCertificateUntrusted), (83, .serverCertificateUntrusted),
        (90, .serverCertificateUntrusted), (91, .serverCertificateUntrusted), (92, .networkConnectionLost),
        (95, .networkConnectionLost), (97, .cannotConnectToHost), (98, .clientCertificateRequired),
    ]

    @Test(arguments: codes)
    func everyFailureOfATransferHasItsCode(curlCode: Int32, code: URLError.Code) {
        #expect(URLError.Code(CurlError(code: curlCode)) == code)
    }

    /// No certificate is to blame, and a later connection may succeed.
    @Test(
        arguments: [
            ("OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to alert.example:443 ", 0),
            ("OpenSSL SSL_connect: Connection reset by peer in connection to h:443 ", ECONNRESET),
            ("Recv failure: Connection reset by peer", 0),
            ("error:0A000126:SSL routines::unexpected eof while reading", 0),
        ] as [(String, Int32)]
    )
    func aHandshakeThatIsCutIsALostConnection(message: String, systemError: Int32) {
        let error = CurlError(code: 35, message: message, systemError: systemError)
        #expect(URLError.Code(error) == .networkConnectionLost)
        #expect(RequestFailure(URLError(URLError.Code(error))).isTemporary)
        #expect(TransferError.curl(error).isUnreachable)
    }

    @Test(
        arguments: [
            (35, "error:0A00010B:SSL routines::wrong version number", .secureConnectionFailed),
            (35, "error:0A000410:SSL routines::sslv3 alert handshake failure", .secureConnectionFailed),
            (35, "error:0A000418:SSL routines::tlsv1 alert unknown ca", .clientCertificateRejected),
            (
                56,
                "OpenSSL SSL_read: error:0A00045C:SSL routines::tlsv13 alert certificate required, errno 0",
                .clientCertificateRequired
            ),
            (
                56, "OpenSSL SSL_read: error:0A000412:SSL routines::sslv3 alert bad certificate, errno 0",
                .clientCertificateRejected
            ),
            (
                55, "OpenSSL SSL_write: error:0A000418:SSL routines::tlsv1 alert unknown ca, errno 0",
                .clientCertificateRejected
            ),
            (
                56, "OpenSSL SSL_read: error:0A000438:SSL routines::tlsv1 alert internal error, errno 0",
                .networkConnectionLost
            ),
            (56, "Recv failure: Connection reset by peer", .networkConnectionLost),
            (55, "Send failure: Broken pipe to an alert host", .networkConnectionLost),
        ] as [(Int32, String, URLError.Code)]
    )
    func anAlertSaysWhyTLSEnded(curlCode: Int32, message: String, code: URLError.Code) {
        let error = CurlError(code: curlCode, message: message)
        #expect(URLError.Code(error) == code)
        #expect(TransferError.curl(error).isUnreachable == !message.contains("routines"))
    }

    @Test func withoutARouteThereIsNoNetwork() {
        for number in [ENETUNREACH, ENETDOWN] {
            let error = CurlError(code: 7, systemError: number)
            #expect(URLError.Code(error) == .notConnectedToInternet)
            #expect(RequestFailure(URLError(URLError.Code(error))).isOffline)
        }
        for number in [ECONNREFUSED, EHOSTUNREACH, 0] {
            #expect(URLError.Code(CurlError(code: 7, systemError: number)) == .cannotConnectToHost)
        }
    }

    /// The remaining codes: libcurl's own mistakes, other protocols, and what our own callbacks answer.
    @Test func theCodesWithoutANameAreThese() {
        let unnamed = (1..<CurlError.codeCount).filter { URLError.Code(CurlError(code: $0)) == .unknown }
        let expected: [ClosedRange<Int32>] = [
            2...2,  // FAILED_INIT
            4...4,  // NOT_BUILT_IN
            9...15,  // FTP, and a REMOTE_ACCESS_DENIED of its
            17...17,  // FTP
            19...25,  // FTP, QUOTE, HTTP_RETURNED_ERROR, WRITE_ERROR, UPLOAD_FAILED
            27...27,  // OUT_OF_MEMORY
            29...34,  // FTP, RANGE_ERROR, HTTP_POST_ERROR
            36...46,  // FILE, LDAP, ABORTED_BY_CALLBACK, BAD_FUNCTION_ARGUMENT
            48...51,  // UNKNOWN_OPTION, SETOPT_OPTION_SYNTAX, TELNET
            57...57, 62...62, 64...64,  // obsolete, USE_SSL_FAILED
            67...76,  // LOGIN_DENIED, TFTP, CONV
            78...79,  // REMOTE_FILE_NOT_FOUND, SSH
            81...81,  // AGAIN
            84...89,  // FTP, RTSP, CHUNK_FAILED, NO_CONNECTION_AVAILABLE
            93...94,  // RECURSIVE_API_CALL, AUTH_ERROR
            96...96,  // QUIC_CONNECT_ERROR
            99...99,  // UNRECOVERABLE_POLL
        ]
        let known = Set(expected.flatMap { Array($0) })
        // A newer libcurl may have more, at the end.
        #expect(unnamed.filter { $0 < 100 } == known.sorted())
        #expect(URLError.Code(CurlError(code: 10_000)) == .unknown)
    }

    @Test func theErrorHasLibcurlsCodeAndSentenceAndTheURL() {
        let error = TransferError.curl(CurlError(code: 6, message: "No such host: a")).error(for: Self.url)
        let urlError = error as? URLError
        #expect(urlError?.curlCode == 6)
        #expect(urlError?.localizedDescription == "No such host: a")
        #expect(urlError?.failingURL == Self.url)
        #expect((error as NSError).domain == NSURLErrorDomain)
        #expect((error as NSError).code == URLError.Code.cannotFindHost.rawValue)
    }

    @Test func theSystemsErrorIsTheUnderlyingOne() {
        let error = CurlError(code: 7, message: "refused", systemError: 111).urlError(for: Self.url)
        let underlying = error.userInfo[NSUnderlyingErrorKey] as? NSError
        #expect(underlying?.domain == NSPOSIXErrorDomain)
        #expect(underlying?.code == 111)
        #expect(CurlError(code: 7).urlError(for: Self.url).userInfo[NSUnderlyingErrorKey] == nil)
    }

    @Test(arguments: [Int32(24), 23])
    func runningOutOfDescriptorsNamesTheLimit(systemError: Int32) {
        let error = CurlError(code: 7, message: "no socket", systemError: systemError).urlError(for: Self.url)
        #expect(error.localizedDescription.contains("RLIMIT_NOFILE"))
    }

    @Test func ourOwnErrorsHaveNoCurlCode() {
        struct Own: Error, Equatable {}
        let table: [(TransferError, URLError.Code)] = [
            (.idle(seconds: 60), .timedOut), (.slowHead(seconds: 60), .timedOut),
            (.length(.malformedLength("x")), .badServerResponse),
            (.length(.conflictingLengths("1, 2")), .badServerResponse),
            (.length(.unknownTransferCoding("gzip")), .badServerResponse),
            (.truncatedHead, .networkConnectionLost),
            (.malformedHead("x"), .badServerResponse),
            (.headTooLong(.field), .badServerResponse),
            (.headTooLong(.heads), .badServerResponse),
            (.headTooLong(.fieldCount), .badServerResponse),
            (.headTooLong(.trailer), .badServerResponse),
            (.wrongLength(declared: 10, received: 3), .networkConnectionLost),
            (.wrongLength(declared: 3, received: 10), .badServerResponse),
            (.missingCloseNotify, .networkConnectionLost),
            (.decoding(.truncated), .cannotDecodeRawData),
            (.decoding(.malformed("x")), .cannotDecodeRawData),
            (.unrequestedCoding("br"), .cannotDecodeContentData),
            (.unrequestedPartialContent, .badServerResponse),
            (.bodyNotRepeatable, .requestBodyStreamExhausted),
            (.expired, .userAuthenticationRequired),
            (.refused, .badServerResponse),
        ]
        for (error, code) in table {
            let urlError = error.error(for: Self.url) as? URLError
            #expect(urlError?.code == code, "\(error)")
            #expect(urlError?.curlCode == nil)
            #expect(urlError?.localizedDescription.hasSuffix(".") == true, "\(error)")
        }
        #expect(TransferError.client(Own()).error(for: Self.url) as? Own == Own())
        #expect(TransferError.body(Own()).error(for: Self.url) as? Own == Own())
    }

    @Test func aThreadThatCannotStartNamesTheLimitAndTheSystemsError() {
        let error =
            TransferError.cannotStart(SystemError(24, "epoll_create1")).error(for: Self.url) as? URLError
        #expect(error?.localizedDescription.contains("RLIMIT_NOFILE") == true)
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == 24)
        #expect(error.map { RetryPolicy().errorCodes.contains($0.code) } == false)
    }

    @Test func aThreadThatCannotBeMadeNamesTheLimitAndTheSystemsError() {
        let error =
            TransferError.noThread(SystemError(11, "pthread_create")).error(for: Self.url) as? URLError
        #expect(error?.localizedDescription.contains("RLIMIT_NPROC") == true)
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == 11)
        #expect(error.map { RetryPolicy().errorCodes.contains($0.code) } == false)
    }

    /// The lack may pass: a retry policy tries again, as after any look-up that failed.
    @Test func aLookupWithoutAThreadIsNotAnUnknownHost() {
        let failure = CurlError(code: 6, message: "getaddrinfo() thread failed to start")
        let error = failure.urlError(for: Self.url)
        #expect(error.code == .cannotFindHost)
        #expect(error.localizedDescription.contains("RLIMIT_NPROC"))
    }

    @Test(arguments: [(60.0, "60 seconds"), (1, "1 second"), (0.5, "0.5 seconds"), (1e30, "1e+30 seconds")])
    func secondsAreWrittenAsTheyAre(seconds: Double, text: String) {
        let error = TransferError.idle(seconds: seconds).error(for: Self.url)
        #expect(error.localizedDescription == "No data was sent or received for \(text).")
    }
}
