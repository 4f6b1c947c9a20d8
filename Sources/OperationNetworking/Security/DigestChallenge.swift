internal import Foundation
internal import OperationNetworkingSystem

/// A challenge of the Digest scheme, and the answer to it
/// ([RFC 7616](https://www.rfc-editor.org/rfc/rfc7616)): a value.
///
/// | The challenge has        | `quality` | The proof is a digest of                                    |
/// |--------------------------|-----------|-------------------------------------------------------------|
/// | `qop` with `auth`        | `.auth`   | password, nonces, count, method and target                  |
/// | `qop=auth-int` only      | `.authInt` | the same, and of the body                                  |
/// | no `qop`                 | `nil`     | password, nonce, method and target (RFC 2069)               |
///
/// Name and password are UTF-8. Realm, nonce and `opaque` are the server's octets: those of a challenge in
/// ISO 8859-1 are hashed, and sent back, as they came.
struct DigestChallenge: Hashable, Sendable {
    /// By its name in the field. Those with `-sess` prove a session: the client's first nonce is part of it.
    enum Algorithm: String, CaseIterable, Sendable {
        case md5 = "MD5"
        case md5Session = "MD5-sess"
        case sha256 = "SHA-256"
        case sha256Session = "SHA-256-sess"
        case sha512By256 = "SHA-512-256"
        case sha512By256Session = "SHA-512-256-sess"

        /// By its name in any case.
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

    /// The quality of protection (`qop`): what the digest covers.
    enum Quality: String, Sendable {
        case auth
        case authInt = "auth-int"
    }

    /// A request, as far as it is protected.
    struct Request: Hashable, Sendable {
        /// As sent.
        var method: String
        /// Path and query, as sent.
        var target: String
        /// `nil`: it comes from a stream.
        var body: Data?
        /// The number of requests that have had this nonce, including this one.
        var count: Int
        /// The client's nonce.
        var clientNonce: String
    }

    let realm: String
    var nonce: String
    let opaque: String?
    let algorithm: Algorithm
    /// Whether the server has named it: if not, it may be one that does not know the parameter.
    private let namesAlgorithm: Bool
    let quality: Quality?
    /// Whether the server wants a digest of the name instead of the name.
    private let hashesUser: Bool
    /// Whether only the nonce was too old: name and password were right.
    let isStale: Bool
    /// The URIs for which the server takes the proof; empty: its whole origin.
    let spaces: [DigestSpace]
    /// Whether the server's texts are not UTF-8. ``authorization(user:password:for:)`` then is a text with
    /// one scalar for each octet.
    let isLatin1: Bool

    /// `nil` for one that cannot be answered: without a nonce, of another scheme, algorithm or quality.
    ///
    /// - Parameters:
    ///   - offer: of a 401.
    ///   - hasBodyInMemory: whether a digest of the request's body can be made.
    init?(_ offer: AuthenticationOffer, hasBodyInMemory: Bool = true) {
        let said = offer.parameters
        guard offer.scheme == .digest, let nonce = said["nonce"],
            let algorithm = Algorithm(name: said["algorithm"] ?? Algorithm.md5.rawValue),
            [nonce, said["realm"] ?? "", said["opaque"] ?? ""].allSatisfy(\.isHTTPFieldValue)
        else { return nil }
        let qualities = (said["qop"] ?? "").split { $0 == "," || $0 == " " || $0 == "\t" }
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
        let sentBack = [nonce, said["realm"] ?? "", said["opaque"] ?? ""]
        isLatin1 = offer.isLatin1 && sentBack.contains { !$0.utf8.allSatisfy { $0 < 0x80 } }
        namesAlgorithm = said["algorithm"] != nil
        realm = said["realm"] ?? ""
        opaque = said["opaque"]
        hashesUser = said["userhash"]?.lowercased() == "true"
        isStale = said["stale"]?.lowercased() == "true"
        spaces = DigestSpace.spaces(said["domain"] ?? "")
    }

    /// The first offer that can be answered: the server has put them in its order.
    static func first(in offers: [AuthenticationOffer], hasBodyInMemory: Bool = true) -> DigestChallenge? {
        offers.lazy.compactMap { DigestChallenge($0, hasBodyInMemory: hasBodyInMemory) }.first
    }

    // MARK: - The proof

    /// The value of the `Authorization` field; see ``isLatin1``.
    ///
    /// - Throws: `MessageDigest.Failure` where OpenSSL computes no such digest.
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
        // Without quotes (RFC 7616 §3.4): some servers do not know them there.
        if let quality { parameters += ["nc=" + count, "qop=" + quality.rawValue] }
        if let opaque { parameters.append("opaque=" + Self.quoted(opaque)) }
        if hashesUser { parameters.append("userhash=true") }
        return "Digest " + parameters.joined(separator: ", ")
    }

    /// UTF-8, as a part of the field.
    private func inOctets(_ text: String) -> String { isLatin1 ? String(octets: text.utf8) : text }

    private func hash(_ text: String) throws -> String { try hash(isLatin1 ? text.octets : Array(text.utf8)) }

    private func hash(_ octets: [UInt8]) throws -> String {
        let digest = try MessageDigest(algorithm.implementation)
        digest.update(octets.span)
        return try digest.finish().hex
    }

    /// Eight digits at least.
    private static func hex(_ count: Int) -> String {
        let digits = String(count, radix: 16)
        return String(repeating: "0", count: max(0, 8 - digits.count)) + digits
    }

    /// A quoted-string of RFC 9110 §5.6.4.
    private static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}

/// A URI of a Digest challenge's `domain`, below which the server takes the same proof ([RFC 7616
/// §3.3](https://www.rfc-editor.org/rfc/rfc7616#section-3.3)).
struct DigestSpace: Hashable, Sendable {
    /// The most that are kept: what is beyond them is asked for once more, and no more than that.
    private static let maximumCount = 64
    private static let root = URL(string: "http://origin.invalid/")

    /// A URL of the server; `nil`: the one that has sent the challenge.
    let server: URL?
    /// With its percent signs.
    let path: String

    /// The first URIs of a `domain`; those that are none cover nothing.
    static func spaces(_ domain: String) -> [DigestSpace] {
        domain.split(separator: " ", maxSplits: maximumCount).prefix(maximumCount).map { DigestSpace($0) }
    }

    private init(_ uri: Substring) {
        guard !uri.hasPrefix("//"), let url = URL(string: String(uri), relativeTo: Self.root)?.absoluteURL
        else {
            // No encoded path begins with it.
            (server, path) = (nil, " ")
            return
        }
        server = url.host == Self.root?.host ? nil : url
        path = url.path(percentEncoded: true)
    }
}
