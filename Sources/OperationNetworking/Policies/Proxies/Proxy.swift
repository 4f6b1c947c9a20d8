import Foundation

/// A proxy server.
///
/// An `http` proxy sees all of an http request. For https it opens a tunnel ([RFC 9110
/// §9.3.6](https://www.rfc-editor.org/rfc/rfc9110#section-9.3.6)), whose contents it cannot read. A SOCKS
/// proxy forwards bytes for both.
///
/// Proxies that use TLS (`https://`) are not supported: the trust evaluation could not distinguish the proxy
/// from the server.
public struct Proxy: Hashable, Sendable {
    /// The protocol of a proxy.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Kind: String, Hashable, Codable, Sendable, CaseIterable {
        /// HTTP; tunnels for https.
        case http
        /// SOCKS 4: the client resolves names; IPv4 only, no password.
        case socks4
        /// SOCKS 4a: like ``socks4``, but the proxy resolves names.
        case socks4a
        /// SOCKS 5 ([RFC 1928](https://www.rfc-editor.org/rfc/rfc1928)): the client resolves names.
        case socks5
        /// Like ``socks5``, but the proxy resolves names.
        case socks5h
    }

    /// The port of a proxy whose address has none, as in curl.
    public static let defaultPort = 1080

    /// The protocol.
    public let kind: Kind
    /// The host name or IP address; IPv6 without brackets.
    public let host: String
    /// The port.
    public let port: Int
    /// The user name, if any.
    public let user: String?
    /// The user's password, if any.
    public let password: String?

    var hasCredentials: Bool { user != nil || password != nil }

    /// - Parameters:
    ///   - kind: the protocol.
    ///   - host: the host name or IP address; IPv6 without brackets.
    ///   - port: the port.
    ///   - user: for Basic, Digest or NTLM, whichever the proxy requests, or for RFC 1929.
    ///   - password: the user's password.
    /// - Throws: ``ProxyError/malformed(reason:)`` if the host or port is invalid, or if the credentials
    ///   cannot be sent.
    public init(
        kind: Kind = .http,
        host: String,
        port: Int = Proxy.defaultPort,
        user: String? = nil,
        password: String? = nil
    ) throws(ProxyError) {
        guard !host.isEmpty else { throw .malformed(reason: "it has no host") }
        guard Self.isAddress(host) || host.unicodeScalars.allSatisfy(Self.isInName) else {
            throw .malformed(reason: "its host has an invalid character")
        }
        guard (1...65535).contains(port) else { throw .malformed(reason: "its port is invalid") }
        for text in [user, password].compactMap(\.self)
        where !text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) {
            throw .malformed(reason: "its user name or password contains control characters")
        }
        // RFC 7617 §2: the colon ends the user.
        guard kind != .http || user?.contains(":") != true else {
            throw .malformed(reason: "its user name contains a colon")
        }
        self.kind = kind
        self.host = host
        self.port = port
        self.user = user
        self.password = password
    }

    /// Parses a proxy as environment variables name it: `http://user:password@host:3128`, `socks5h://host`,
    /// `host:3128`.
    ///
    /// | Text                       | Meaning         |
    /// |----------------------------|-----------------|
    /// | no scheme                  | `http`          |
    /// | `socks://`                 | `socks4`        |
    /// | no port                    | ``defaultPort`` |
    /// | `%40` in user and password | `@`             |
    /// | a path                     | ignored         |
    ///
    /// - Throws: ``ProxyError``, without the text, which may hold a secret.
    public init(_ text: String) throws(ProxyError) {
        var rest = text[...]
        var kind = Kind.http
        if let end = text.range(of: "://") {
            kind = try Self.kind(text[..<end.lowerBound].lowercased())
            rest = text[end.upperBound...]
        }
        rest = rest.prefix { !"/?#".contains($0) }
        var user: String?
        var password: String?
        if let at = rest.lastIndex(of: "@") {
            let parts = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            user = try Self.decoded(parts[0])
            password = parts.count > 1 ? try Self.decoded(parts[1]) : nil
            rest = rest[rest.index(after: at)...]
        }
        let (host, port) = try Self.server(rest)
        try self.init(kind: kind, host: host, port: port, user: user, password: password)
    }

    /// The address without credentials: `http://host:3128`.
    public var address: String { "\(kind.rawValue)://\(server)" }

    /// The authority of a URL: `host:3128`, `[::1]:3128`.
    private var server: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }

    // MARK: - Reading

    private static func kind(_ scheme: String) throws(ProxyError) -> Kind {
        if let kind = Kind(rawValue: scheme) { return kind }
        switch scheme {
        case "socks": return .socks4
        case "https":
            throw .unsupported(
                reason:
                    "https proxies are not supported: trust in the proxy and trust in the server cannot be distinguished"
            )
        default:
            throw .unsupported(reason: "the scheme must be http, socks4, socks4a, socks5 or socks5h")
        }
    }

    private static func server(_ text: Substring) throws(ProxyError) -> (host: String, port: Int) {
        var host = text
        var port: Substring?
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { throw .malformed(reason: "its host has no ]") }
            host = text[text.index(after: text.startIndex)..<end]
            guard isAddress(String(host)) else {
                throw .malformed(reason: "its host in brackets is not an address")
            }
            let rest = text[text.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { throw .malformed(reason: "its port is invalid") }
            port = rest.isEmpty ? nil : rest.dropFirst()
        } else if let colon = text.lastIndex(of: ":") {
            host = text[..<colon]
            port = text[text.index(after: colon)...]
            guard !host.contains(":") else {
                throw .malformed(reason: "its host has a colon: IPv6 needs brackets")
            }
        }
        guard let port, !port.isEmpty else { return (String(host), defaultPort) }
        guard let number = Int64(digits: port), let port = Int(exactly: number) else {
            throw .malformed(reason: "its port is invalid")
        }
        return (String(host), port)
    }

    private static func decoded(_ text: Substring) throws(ProxyError) -> String {
        guard let decoded = text.removingPercentEncoding else {
            throw .malformed(reason: "its user name or password has invalid percent encoding")
        }
        return decoded
    }

    /// Whether the host is an IPv6 address, with or without a zone.
    private static func isAddress(_ host: String) -> Bool {
        host.contains(":")
            && host.utf8.allSatisfy { $0.isHTTPTokenCharacter || $0 == UInt8(ascii: ":") }
    }

    private static func isInName(_ scalar: Unicode.Scalar) -> Bool {
        !scalar.isASCII || scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
            || "-._".unicodeScalars.contains(scalar)
    }
}

// MARK: - Codable

extension Proxy: Codable {
    // User and password are not encoded, because archives end up in files. A proxy that needs them has to be
    // set again.
    private enum CodingKeys: CodingKey {
        case kind, host, port
    }

    /// Decodes a proxy without credentials.
    ///
    /// - Throws: ``ProxyError`` as ``init(kind:host:port:user:password:)`` does.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            kind: try values.decode(Kind.self, forKey: .kind),
            host: try values.decode(String.self, forKey: .host),
            port: try values.decode(Int.self, forKey: .port)
        )
    }
}

// MARK: - CustomStringConvertible

extension Proxy: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Without the credentials: `http://redacted@host:3128`.
    public var description: String {
        user == nil && password == nil ? address : "\(kind.rawValue)://redacted@\(server)"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Only the ``description``, so that `dump` and string interpolation of an enclosing value hide the
    /// credentials.
    public var customMirror: Mirror { Mirror(self, children: ["address": description]) }
}
