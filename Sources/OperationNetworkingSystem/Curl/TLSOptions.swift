package import Foundation

/// The TLS settings of a transfer's connection.
package struct TLSOptions: Sendable {
    /// The certificate authorities that OpenSSL trusts.
    package enum Authorities: Hashable, Sendable {
        /// The file and the directory that libcurl was built with.
        case standard
        /// PEM files, and directories as `openssl rehash` makes them, and no others.
        case places(file: String?, directory: String?)
        /// These, in PEM, and no others.
        case certificates(Data)
    }

    package var authorities: Authorities
    /// The client's certificate and key, for a server that asks for them.
    package var identity: KeyPair?
    /// The lowest and the highest version, as minor versions of TLS 1: 0 to 3.
    package var versions: ClosedRange<Int>
    /// Whether libcurl, after the judge, compares the certificate's names with the URL's host.
    package var checksHost: Bool
    /// Whether a later handshake may be a short one, in which no certificate is shown.
    package var resumesSessions: Bool
    /// `nil`: OpenSSL alone decides.
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
