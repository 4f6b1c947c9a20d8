import Foundation
internal import OperationNetworkingSystem

/// The settings that must be equal for two transfers to share anything: connections, TLS sessions, handles.
///
/// libcurl hands out a connection that was opened under one policy to a transfer with another one, so it
/// never gets the chance: each domain has its own multi handle.
struct TrustDomain: Hashable, Sendable {
    var policy = SecurityPolicy.default
    var anchors = TrustAnchors.system
    /// The versions of the files that `anchors` names when the transfer was made: after a change of
    /// authorities, no older connection is used. libcurl reads a file once for each domain.
    var anchorVersions: [FileVersion?] = []
    var identity: ClientIdentity?
    var versions = TLSVersion.defaultRange
    /// With its credentials: a connection through a proxy, or a tunnel, is for the user that opened it.
    var proxy: Proxy?
    /// The caller's own `Proxy-Authorization`, besides.
    var proxyAuthorization: String?
    /// The credential that authenticated the connections, by a scheme that authenticates those; `nil`: none.
    var credential: Credential?
    /// The one transfer that the domain is for: it has its connection to itself. `nil`: any.
    var transfer: TransferID?
    /// Servers that the challenge's closure trusts although the policy does not.
    var exceptions: Set<TrustException> = []

    /// libcurl's form of it, for a connection to `host`.
    func tlsOptions(judge: ServerExamination) -> TLSOptions {
        TLSOptions(
            authorities: authorities,
            identity: identity?.keyPair,
            versions: versions.lowerBound.rawValue...versions.upperBound.rawValue,
            // The judge compares names as well, and knows of exceptions.
            checksHost: policy.validatesDomainName && exceptions.isEmpty,
            // A short handshake shows no certificate, and what was pinned may be wanted no more.
            resumesSessions: !policy.pins && identity == nil && exceptions.isEmpty,
            judge: judge
        )
    }

    /// Looks at the places that `anchors` names.
    mutating func lookAtAnchors() {
        let places = anchors.places
        anchorVersions = [places.file, places.directory].compactMap(\.self).map { FileVersion(path: $0) }
    }

    private var authorities: TLSOptions.Authorities {
        if case .certificates(let certificates) = anchors { return .certificates(Self.pem(certificates)) }
        let places = anchors.places
        return places.isEmpty ? .standard : .places(file: places.file, directory: places.directory)
    }

    private static func pem(_ certificates: [Certificate]) -> Data {
        var text = ""
        for certificate in certificates {
            text += "-----BEGIN CERTIFICATE-----\n"
            text += certificate.der.base64EncodedString(options: [
                .lineLength64Characters, .endLineWithLineFeed,
            ])
            text += "\n-----END CERTIFICATE-----\n"
        }
        return Data(text.utf8)
    }
}

/// A server that the challenge's closure trusts although the policy does not, for as long as it presents this
/// certificate.
struct TrustException: Hashable, Sendable {
    let host: String
    let certificate: Certificate

    /// - Returns: `nil` if nothing is known about the server.
    init?(_ refusal: ServerTrustError) {
        guard let certificate = refusal.serverTrust?.certificates.first else { return nil }
        host = refusal.host
        self.certificate = certificate
    }
}

/// Judges the servers of one transfer by its policy.
final class ServerExamination: ServerJudge {
    private let policy: SecurityPolicy
    private let exceptions: Set<TrustException>
    private let url: URL
    private let failure = Locked<ServerTrustError?>(nil)

    init(_ domain: TrustDomain, url: URL) {
        policy = domain.policy
        exceptions = domain.exceptions
        self.url = url
    }

    /// Why the last server was refused.
    var error: ServerTrustError? { failure.withLock { $0 } }

    func refusal(_ check: ServerTrustError.Check) -> ServerTrustError {
        ServerTrustError(host: url.host ?? "", check: check, serverTrust: nil, url: url)
    }

    func accepts(_ certificates: [Data], chain: ChainResult) -> Bool {
        // Without a host there is a name to compare all the same: no certificate has it.
        let trust = ServerTrust(host: url.host ?? "", presented: certificates, chain: chain, policy: policy)
        let refusal = policy.failedCheck(of: trust).map {
            ServerTrustError(host: url.host ?? "", check: $0, serverTrust: trust, url: url)
        }
        let isException = refusal.flatMap(TrustException.init).map { exceptions.contains($0) } ?? false
        failure.change { $0 = isException ? nil : refusal }
        return refusal == nil || isException
    }
}

extension TransferSettings {
    /// The domain of a transfer with these settings, before its proxy and its connection's credential are
    /// known.
    var trustDomain: TrustDomain {
        TrustDomain(
            policy: securityPolicy,
            anchors: trustAnchors,
            identity: clientIdentity,
            versions: tlsVersions
        )
    }
}
