package import Foundation

/// The TLS settings of a transfer's connection.
package struct TLSOptions: Sendable {
    /// The certificate authorities that OpenSSL trusts.
    package enum Authorities: Hashable, Sendable {
        /// libcurl's default file and directory.
        case standard
        /// Only these PEM files, and directories prepared by `openssl rehash`.
        case places(file: String?, directory: String?)
        /// Only these, in PEM.
        case certificates(Data)
    }

    package var authorities: Authorities
    /// The client's certificate and key, for servers that request them.
    package var identity: KeyPair?
    /// The minimum and maximum version, as minor versions of TLS 1: 0 to 3.
    package var versions: ClosedRange<Int>
    /// Whether libcurl, after the judge, compares the certificate's names with the URL's host.
    package var checksHost: Bool
    /// Whether sessions may be resumed, by a handshake without certificates.
    package var resumesSessions: Bool
    /// The judge; `nil` if OpenSSL alone decides.
    package var judge: (any ServerJudge)?

    package init(
        authorities: Authorities = .standard,
        identity: KeyPair? = nil,
        versions: ClosedRange<Int> = 2...3,
        checksHost: Bool = true,
        resumesSessions: Bool = true,
        judge: (any ServerJudge)? = nil
    ) {
        self.authorities = authorities
        self.identity = identity
        self.versions = versions
        self.checksHost = checksHost
        self.resumesSessions = resumesSessions
        self.judge = judge
    }
}
