import Foundation

/// nginx's TLS servers, of `scripts/with-servers`; each speaks HTTP/2 and HTTP/1.1 and serves the same files.
///
/// | Presents          | Servers                                                                                |
/// |-------------------|----------------------------------------------------------------------------------------|
/// | the good chain    | ``good``, ``http1``, ``tls12``, ``tls13``, ``clientRequired``, ``clientOptional``        |
/// | its leaf only     | ``leafOnly``                                                                           |
/// | another leaf of it| ``renewed``, ``expired``, ``notYetValid``, ``noServerAuth``, ``wrongHost``, ``wildcard``, ``ipOnly``, ``cnOnly`` |
/// | something else    | ``other``, ``selfSigned``, ``attacker``                                                |
enum NginxTLSServer: String, CaseIterable, Sendable {
    case good = "HTTPS"
    /// HTTP/1.1 only. Its log says whether a session was resumed.
    case http1 = "HTTP1"
    case tls12 = "TLS12"
    /// And takes four streams at once over a connection of HTTP/2.
    case tls13 = "TLS13"
    /// Answers 403 to a client without a certificate of `client-root`.
    case clientRequired = "CLIENT_REQUIRED"
    /// The server's `/headers` shows which certificate the client presented, if any.
    case clientOptional = "CLIENT_OPTIONAL"
    /// The good leaf without the intermediates.
    case leafOnly = "LEAF_ONLY"
    /// The good leaf's names and key in another certificate.
    case renewed = "RENEWED"
    case expired = "EXPIRED"
    case notYetValid = "NOT_YET_VALID"
    /// For clients only, says the certificate.
    case noServerAuth = "NO_SERVER_AUTH"
    /// For `other.example`.
    case wrongHost = "WRONG_HOST"
    /// For `*.example.test` and `*.wild.localhost`; the address has a host of the latter.
    case wildcard = "WILDCARD"
    /// For 127.0.0.1; the address has the host localhost.
    case ipOnly = "IP_ONLY"
    /// The certificate's common name is localhost, and it has no alternative name.
    case cnOnly = "CN_ONLY"
    /// Of ``RealServers/otherAuthorities``.
    case other = "HTTPS_OTHER"
    case selfSigned = "SELF_SIGNED"
    /// A certificate of the attacker's, with the good chain appended.
    case attacker = "ATTACKER"

    /// The server's address without a path; `nil` in a run without `scripts/with-servers`.
    var url: URL? { RealServers.url("NGINX_\(rawValue)") }
}

/// The files of `scripts/make-certificates`, by the names that are listed there.
enum TestCertificates {
    /// The passphrase of `client-encrypted.key`.
    static let passphrase = "passphrase"
    /// The password of `client.p12`.
    static let password = "password"

    /// The directory; `nil` in a run without `scripts/with-servers`.
    static var directory: URL? { RealServers.file("CERTIFICATES") }

    /// The file `NAME.pem`; `NAME-chain` is a certificate with its intermediates.
    static func pem(_ name: String) -> URL? { file("\(name).pem") }

    /// The file `NAME.der`.
    static func der(_ name: String) -> URL? { file("\(name).der") }

    /// The file `NAME.key`, PEM.
    static func key(_ name: String) -> URL? { file("\(name).key") }

    /// The client's certificate and key, PKCS #12.
    static var clientPKCS12: URL? { file("client.p12") }

    /// The client's certificate and key in one PEM file.
    static var clientCombined: URL? { file("client-combined.pem") }

    private static func file(_ name: String) -> URL? { directory?.appendingPathComponent(name) }
}
