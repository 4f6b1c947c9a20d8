internal import Foundation
internal import OperationNetworkingSystem

/// A challenge of the Digest scheme, and its answer ([RFC 7616](https://www.rfc-editor.org/rfc/rfc7616)).
///
/// | The challenge has   | `quality`  | The response is a digest of                   |
/// |---------------------|------------|-----------------------------------------------|
/// | `qop` with `auth`   | `.auth`    | password, nonces, count, method and target    |
/// | `qop=auth-int` only | `.authInt` | the same and the body                         |
/// | no `qop`            | `nil`      | password, nonce, method and target (RFC 2069) |
///
/// User and password are UTF-8. Realm, nonce and `opaque` are hashed and sent back as the octets that the
/// server sent, which may be ISO 8859-1.
struct DigestChallenge: Hashable, Sendable {
    /// The name in the field. Algorithms with `-sess` authenticate a session, which includes the client's
    /// first nonce.
    enum Algorithm: String, CaseIterable, Sendable {
        case md5 = "MD5"
        case md5Session = "MD5-sess"
        case sha256 = "SHA-256"
        case sha256Session = "SHA-256-sess"
        case sha512By256 = "SHA-512-256"
        case sha512By256Session = "SHA-512-256-sess"

        /// Creates an algorithm from its name, in any case.
        init?(name: String) {
            guard let found = Self.allCases.first(where: { $0.rawValue.isEqualIgnoringASCIICase(to: name) })
            else { return nil }
            self = found
        }

        var isSession: Bool {
            switch self {
            case .md5, .sha256, .sha512By256: false
            case .md5Session, .sha256Session, .sha512By256Session: true
            }
        }

        fileprivate var implementation: MessageDigest.Algorithm {
            switch self {
            case .md5, .md5Session: .md5
            case .sha256, .sha256Session: .sha256
            case .sha512By256, .sha512By256Session: .sha512By256
            }
        }
    }

    /// The quality of protection (`qop`).
    enum Quality: String, Sendable {
        case auth
        case authInt = "auth-int"
    }

    /// The parts of a request that the digest covers.
    struct Request: Hashable, Sendable {
        /// The method as sent.
        var method: String
        /// The path and query as sent.
        var target: String
        /// `nil` if the body is a stream.
        var body: Data?
        /// The number of requests with this nonce, including this one.
        var count: Int
        /// The client's nonce.
        var clientNonce: String
    }

    let realm: String
    var nonce: String
    let opaque: String?
    let algorithm: Algorithm
    /// Whether the server named the algorithm. If not, it may not support the parameter.
    private let namesAlgorithm: Bool
    let quality: Quality?
    /// Whether the server requests a digest of the user name instead of the name.
    private let hashesUser: Bool
    /// Whether only the nonce had expired; user and password were correct.
    let isStale: Bool
    /// The URIs that the challenge protects; empty for the whole origin.
    let spaces: [DigestSpace]
    /// Whether the server's values are not UTF-8. ``authorization(user:password:for:)`` then returns one
    /// scalar per octet.
    let isLatin1: Bool

    /// Parses a challenge; `nil` if it cannot be answered: it has no nonce, or another scheme, algorithm or
    /// quality.
    ///
    /// - Parameters:
    ///   - offer: an offer of a 401.
    ///   - hasBodyInMemory: whether a digest of the request's body can be made.
    init?(_ offer: AuthenticationOffer, hasBodyInMemory: Bool = true) {
        let parameters = offer.parameters
        guard offer.scheme == .digest, let nonce = parameters["nonce"],
            let algorithm = Algorithm(name: parameters["algorithm"] ?? Algorithm.md5.rawValue),
            [nonce, parameters["realm"] ?? "", parameters["opaque"] ?? ""].allSatisfy(\.isHTTPFieldValue)
        else { return nil }
        let qualities = (parameters["qop"] ?? "").split { $0 == "," || $0 == " " || $0 == "\t" }
            .map { $0.lowercased() }
        if qualities.contains(Quality.auth.rawValue) {
            quality = .auth
        } else if qualities.contains(Quality.authInt.rawValue), hasBodyInMemory {
            quality = .authInt
        } else if qualities.isEmpty {
            quality = nil
        } else {
            return nil
        }
        self.nonce = nonce
        self.algorithm = algorithm
        let echoed = [nonce, parameters["realm"] ?? "", parameters["opaque"] ?? ""]
        isLatin1 = offer.isLatin1 && echoed.contains { !$0.utf8.allSatisfy { $0 < 0x80 } }
        namesAlgorithm = parameters["algorithm"] != nil
        realm = parameters["realm"] ?? ""
        opaque = parameters["opaque"]
        hashesUser = parameters["userhash"]?.lowercased() == "true"
        isStale = parameters["stale"]?.lowercased() == "true"
        spaces = DigestSpace.spaces(parameters["domain"] ?? "")
    }

    /// Returns the first challenge that can be answered, in the server's order of preference.
    static func first(in offers: [AuthenticationOffer], hasBodyInMemory: Bool = true) -> DigestChallenge? {
        offers.lazy.compactMap { DigestChallenge($0, hasBodyInMemory: hasBodyInMemory) }.first
    }

    // MARK: - Answering

    /// Returns the value of the `Authorization` field; see ``isLatin1``.
    ///
    /// - Throws: `MessageDigest.Failure` if OpenSSL does not support the digest.
    func authorization(user: String, password: String, for request: Request) throws -> String {
        let (user, password) = (inOctets(user), inOctets(password))
        var secret = try hash("\(user):\(realm):\(password)")
        if algorithm.isSession { secret = try hash("\(secret):\(nonce):\(request.clientNonce)") }
        var message = "\(request.method):\(request.target)"
        if quality == .authInt { message += ":" + (try hash(Array(request.body ?? Data()))) }
        let count = Self.hex(request.count)
        let proof =
            if let quality {
                "\(nonce):\(count):\(request.clientNonce):\(quality.rawValue):\(try hash(message))"
            } else {
                "\(nonce):\(try hash(message))"
            }
        var parameters = [
            "username=" + Self.quoted(hashesUser ? try hash("\(user):\(realm)") : user),
            "realm=" + Self.quoted(realm), "nonce=" + Self.quoted(nonce),
            "uri=" + Self.quoted(request.target), "response=" + Self.quoted(try hash("\(secret):\(proof)")),
        ]
        if namesAlgorithm { parameters.append("algorithm=" + algorithm.rawValue) }
        if quality != nil || algorithm.isSession {
            parameters.append("cnonce=" + Self.quoted(request.clientNonce))
        }
        // Without quotes (RFC 7616 §3.4), which some servers do not accept here.
        if let quality { parameters += ["nc=" + count, "qop=" + quality.rawValue] }
        if let opaque { parameters.append("opaque=" + Self.quoted(opaque)) }
        if hashesUser { parameters.append("userhash=true") }
        return "Digest " + parameters.joined(separator: ", ")
    }

    /// The text's UTF-8 octets, in the form of the field.
    private func inOctets(_ text: String) -> String { isLatin1 ? String(octets: text.utf8) : text }

    private func hash(_ text: String) throws -> String { try hash(isLatin1 ? text.octets : Array(text.utf8)) }

    private func hash(_ octets: [UInt8]) throws -> String {
        let digest = try MessageDigest(algorithm.implementation)
        digest.update(octets.span)
        return try digest.finish().hex
    }

    /// At least eight digits.
    private static func hex(_ count: Int) -> String {
        let digits = String(count, radix: 16)
        return String(repeating: "0", count: max(0, 8 - digits.count)) + digits
    }

    /// A quoted-string of RFC 9110 §5.6.4.
    private static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}

/// A URI in a Digest challenge's `domain`, below which the server accepts the same credentials ([RFC 7616
/// §3.3](https://www.rfc-editor.org/rfc/rfc7616#section-3.3)).
struct DigestSpace: Hashable, Sendable {
    /// The maximum number of URIs. Requests to further ones only receive another challenge.
    private static let maximumCount = 64
    private static let root = URL(string: "http://origin.invalid/")

    /// A URL of the server; `nil` for the server that sent the challenge.
    let server: URL?
    /// The percent-encoded path.
    let path: String

    /// Parses the first URIs of a `domain`. Invalid ones cover nothing.
    static func spaces(_ domain: String) -> [DigestSpace] {
        domain.split(separator: " ", maxSplits: maximumCount).prefix(maximumCount).map { DigestSpace($0) }
    }

    private init(_ uri: Substring) {
        guard !uri.hasPrefix("//"), let url = URL(string: String(uri), relativeTo: Self.root)?.absoluteURL
        else {
            // No encoded path begins with a space.
            (server, path) = (nil, " ")
            return
        }
        server = url.host == Self.root?.host ? nil : url
        path = url.path(percentEncoded: true)
    }
}
