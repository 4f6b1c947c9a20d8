public import Foundation

/// Why a request failed at its proxy. `NSUnderlyingErrorKey` holds a `URLError`.
///
/// | What came                                                     | Is                                             |
/// |---------------------------------------------------------------|------------------------------------------------|
/// | 401 or 407 to CONNECT, with the credentials                   | ``authenticationRequired(proxy:)``             |
/// | another status than 2xx to CONNECT                            | ``refused(proxy:status:)``; never a redirect, nor a `Retry-After` |
/// | no answer to CONNECT, or a part of one                        | ``failed(proxy:reason:isTemporary:)``              |
/// | 407 to an http request, with the credentials                  | ``authenticationRequired(proxy:)``             |
/// | another status to an http request                             | the response: the proxy's and the server's look alike |
/// | 407 in a tunnel, through SOCKS, or without a proxy            | the server's response                          |
/// | SOCKS refuses user and password                               | ``authenticationRequired(proxy:)``             |
/// | SOCKS says why it did not connect                             | ``failed(proxy:reason:isTemporary:)``              |
///
/// A proxy's password is never sent to a server that answers 407 in a tunnel.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum ProxyError: Error, Hashable, Sendable {
    /// The proxy's address is invalid. The reason does not quote credentials.
    case malformed(reason: String)
    /// The protocol of the proxy is not supported.
    case unsupported(reason: String)
    /// The proxy could not be reached.
    case unreachable(proxy: String, reason: String)
    /// The proxy requires a user and a password, or refused those that it received (407; RFC 1929).
    case authenticationRequired(proxy: String)
    /// The proxy answered CONNECT with a status other than 2xx.
    case refused(proxy: String, status: Int)
    /// A SOCKS proxy could not or would not connect to the server, or a proxy closed the connection or sent
    /// an invalid reply. `isTemporary` (whether a retry may succeed) is inferred from the reply.
    case failed(proxy: String, reason: String, isTemporary: Bool)

    /// The corresponding code of `URLError`.
    public var code: URLError.Code {
        switch self {
        case .malformed: .badURL
        case .unsupported: .unsupportedURL
        case .authenticationRequired: .userAuthenticationRequired
        case .unreachable, .refused, .failed: .cannotConnectToHost
        }
    }

    /// Whether the same request may succeed later.
    var isTemporary: Bool {
        switch self {
        case .malformed, .unsupported, .authenticationRequired: false
        case .unreachable: true
        case .refused(_, let status): [408, 429, 500, 502, 503, 504].contains(status)
        case .failed(_, _, let isTemporary): isTemporary
        }
    }
}

// MARK: - From libcurl

extension ProxyError {
    /// The state of a connection through a proxy when it failed.
    struct Evidence: Hashable, Sendable {
        /// The `CURLcode`.
        var code: Int32
        /// libcurl's message.
        var message = ""
        /// The status of the answer to CONNECT; 0 if there was none.
        var tunnelStatus = 0
        /// The `CURLproxycode` of a SOCKS proxy.
        var proxyCode = 0
        /// Whether the request could have been sent.
        var hasConnection = false

        /// Whether libcurl failed because of the answer to CONNECT. The status alone does not show it: while
        /// a CONNECT with credentials is unanswered, it is still the 407 of the previous one. libcurl's only
        /// sign is that its message ends with the status; the code is 56, and 7 in later versions.
        var isRefusal: Bool { tunnelStatus != 0 && message.hasSuffix(" \(tunnelStatus)") }
    }

    /// - Returns: `nil` if the proxy did not cause the failure.
    init?(_ proxy: Proxy, _ evidence: Evidence) {
        let address = proxy.address
        switch evidence.code {
        case 0:
            return nil
        case 5:  // CURLE_COULDNT_RESOLVE_PROXY
            self = .unreachable(proxy: address, reason: evidence.message)
        case 7 where !evidence.isRefusal:  // CURLE_COULDNT_CONNECT
            self = .unreachable(proxy: address, reason: evidence.message)
        case 97:  // CURLE_PROXY
            guard evidence.proxyCode != 27 else { return nil }  // CURLPX_RESOLVE_HOST: the client resolves it
            self = Self.socks(address, evidence)
        default:
            guard proxy.kind == .http else { return nil }
            switch evidence.tunnelStatus {
            // 401 belongs to servers, but some proxies answer it to wrong credentials.
            case 401 where evidence.isRefusal, 407 where evidence.isRefusal:
                self = .authenticationRequired(proxy: address)
            case 0, 200..<300, 401, 407:
                // CURLE_WEIRD_SERVER_REPLY, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR: not TLS,
                // which has its own codes.
                guard !evidence.hasConnection, [8, 52, 55, 56].contains(evidence.code) else { return nil }
                self = .failed(proxy: address, reason: evidence.message, isTemporary: true)
            case let status: self = .refused(proxy: address, status: status)
            }
        }
    }

    /// See CURLINFO_PROXY_ERROR(3).
    private static func socks(_ address: String, _ evidence: Evidence) -> ProxyError {
        switch evidence.proxyCode {
        case 12, 33:  // CURLPX_NO_AUTH, CURLPX_USER_REJECTED
            .authenticationRequired(proxy: address)
        // CLOSED, RECV_*, REPLY_* except NOT_ALLOWED, SEND_*; and REQUEST_FAILED, the only code of SOCKS 4
        // for a server that is down.
        case 3, 13...16, 19...22, 24, 26, 28...30:
            .failed(proxy: address, reason: evidence.message, isTemporary: true)
        default:
            .failed(proxy: address, reason: evidence.message, isTemporary: false)
        }
    }
}

// MARK: - CustomStringConvertible

extension ProxyError: CustomStringConvertible {
    /// One sentence.
    public var description: String {
        switch self {
        case .malformed(let reason): "The proxy's address is malformed: \(reason)."
        case .unsupported(let reason): "The proxy cannot be used: \(reason)."
        case .unreachable(let proxy, let reason): "The proxy \(proxy) cannot be reached: \(reason)."
        case .authenticationRequired(let proxy):
            "The proxy \(proxy) requires a user name and password, or rejected the ones it received."
        case .refused(let proxy, let status): "The proxy \(proxy) answered CONNECT with \(status)."
        case .failed(let proxy, let reason, _): "The proxy \(proxy) did not connect: \(reason)."
        }
    }
}

// MARK: - LocalizedError, CustomNSError

extension ProxyError: LocalizedError, CustomNSError {
    /// The same as ``description``.
    public var errorDescription: String? { description }

    /// The domain of the `NSError`.
    public static var errorDomain: String { "OperationNetworking.ProxyError" }

    /// The raw value of ``code``.
    public var errorCode: Int { code.rawValue }

    /// The description, and the underlying `URLError`.
    public var errorUserInfo: [String: Any] {
        [
            NSLocalizedDescriptionKey: description,
            NSUnderlyingErrorKey: URLError(code, userInfo: [NSLocalizedDescriptionKey: description]),
        ]
    }
}

// MARK: - ClassifiedError

extension ProxyError: ClassifiedError {
    package var traits: FailureTraits {
        let isMistake: Bool
        switch self {
        case .malformed, .unsupported: isMistake = true
        case .unreachable, .authenticationRequired, .refused, .failed: isMistake = false
        }
        return FailureTraits(code: code, isTemporary: isTemporary, isMistake: isMistake)
    }
}
