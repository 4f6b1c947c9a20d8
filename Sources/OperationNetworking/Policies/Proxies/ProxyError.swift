public import Foundation

/// Why a request did not get through its proxy. Beneath it, in `NSUnderlyingErrorKey`, is a `URLError`.
///
/// What a proxy says to CONNECT is never the response. What it says to a plain http request looks like the
/// server's answer, and is the response, except for 407.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum ProxyError: Error, Hashable, Sendable {
    /// The configuration names no proxy that could be asked. Credentials are not repeated here.
    case malformed(reason: String)
    /// A kind of proxy that is not spoken here.
    case unsupported(reason: String)
    /// The proxy could not be reached.
    case unreachable(proxy: String, reason: String)
    /// The proxy wants a user and a password, or others (407; RFC 1929).
    case authenticationRequired(proxy: String)
    /// The proxy answered CONNECT with another status than 2xx.
    case refused(proxy: String, status: Int)
    /// A SOCKS proxy could not, or would not, connect to the server; or the proxy broke off, or made no
    /// sense. Whether it may pass is a guess from what the proxy says.
    case failed(proxy: String, reason: String, mayPass: Bool)

    /// The code of `URLError` for it.
    public var code: URLError.Code {
        switch self {
        case .malformed: .badURL
        case .unsupported: .unsupportedURL
        case .authenticationRequired: .userAuthenticationRequired
        case .unreachable, .refused, .failed: .cannotConnectToHost
        }
    }

    /// Whether the same may succeed later.
    var mayPass: Bool {
        switch self {
        case .malformed, .unsupported, .authenticationRequired: false
        case .unreachable: true
        case .refused(_, let status): [408, 429, 500, 502, 503, 504].contains(status)
        case .failed(_, _, let mayPass): mayPass
        }
    }
}

// MARK: - From libcurl

extension ProxyError {
    /// The progress of a connection through a proxy when it failed.
    struct Evidence: Hashable, Sendable {
        /// The `CURLcode`.
        var code: Int32
        /// The message of libcurl.
        var message = ""
        /// The answer to CONNECT; 0: none.
        var tunnelStatus = 0
        /// The `CURLproxycode` of a SOCKS proxy.
        var proxyCode = 0
        /// Whether the request could have been sent.
        var hasConnection = false

        /// Whether libcurl ended because of the answer to CONNECT. The status alone does not say so: it is
        /// still that of the answer before, of a 407, while a CONNECT with credentials has none yet. libcurl
        /// has no other sign of it than that its message ends with the status; the code is 56, and in later
        /// versions 7.
        var isRefusal: Bool { tunnelStatus != 0 && message.hasSuffix(" \(tunnelStatus)") }
    }

    /// - Returns: `nil` when the proxy is not to blame.
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
            guard evidence.proxyCode != 27 else { return nil }  // CURLPX_RESOLVE_HOST: looked up here
            self = Self.socks(address, evidence)
        default:
            guard proxy.kind == .http else { return nil }
            switch evidence.tunnelStatus {
            // 401 is a server's; some proxies say it to wrong credentials.
            case 401 where evidence.isRefusal, 407 where evidence.isRefusal:
                self = .authenticationRequired(proxy: address)
            case 0, 200..<300, 401, 407:
                // CURLE_WEIRD_SERVER_REPLY, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR: not from
                // TLS, which has codes of its own.
                guard !evidence.hasConnection, [8, 52, 55, 56].contains(evidence.code) else { return nil }
                self = .failed(proxy: address, reason: evidence.message, mayPass: true)
            case let status: self = .refused(proxy: address, status: status)
            }
        }
    }

    /// See CURLINFO_PROXY_ERROR(3).
    private static func socks(_ address: String, _ evidence: Evidence) -> ProxyError {
        switch evidence.proxyCode {
        case 12, 33:  // CURLPX_NO_AUTH, CURLPX_USER_REJECTED
            .authenticationRequired(proxy: address)
        // CLOSED, RECV_*, REPLY_* but NOT_ALLOWED, SEND_*; and REQUEST_FAILED, which is all that SOCKS 4 can
        // say of a server that is down.
        case 3, 13...16, 19...22, 24, 26, 28...30:
            .failed(proxy: address, reason: evidence.message, mayPass: true)
        default:
            .failed(proxy: address, reason: evidence.message, mayPass: false)
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
            "The proxy \(proxy) wants a user and a password, or others than it got."
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

    /// The number of ``code``.
    public var errorCode: Int { code.rawValue }

    /// The sentence, and the `URLError` beneath.
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
        return FailureTraits(code: code, mayPass: mayPass, isMistake: isMistake)
    }
}
