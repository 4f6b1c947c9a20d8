import Foundation
internal import OperationNetworkingSystem

/// The settings that must be equal for two transfers to share anything: connections, TLS sessions, handles.
///
/// libcurl would reuse a connection that was opened under one policy for a transfer with another one, so each
/// domain has its own multi handle.
///
/// Every transfer looks up its domain more than once. So a domain is one reference, and its hash is computed
/// when it is made, once for many transfers.
@dynamicMemberLookup
struct TrustDomain: Hashable, Sendable {
    /// The settings.
    struct Parts: Hashable, Sendable {
        var policy = SecurityPolicy.default
        var anchors = TrustAnchors.system
        /// The versions of the files named by `anchors`, when the operation started: after a change of
        /// certificate authorities, no older connection is used. libcurl reads a file once per domain.
        var anchorVersions: [FileVersion?] = []
        var identity: ClientIdentity?
        var versions = TLSVersion.defaultRange
        /// The proxy with its credentials: a connection through a proxy, or a tunnel, is for the user who
        /// opened it.
        var proxy: Proxy?
        /// The caller's own `Proxy-Authorization`.
        var proxyAuthorization: String?
        /// The credential that authenticated the connections, by a connection-based scheme; `nil` if there is
        /// none.
        var credential: Credential?
        /// The only transfer of the domain, which does not share its connection; `nil` for any transfer.
        var transfer: TransferID?
        /// The servers that the challenge closure trusts although the policy does not.
        var exceptions: Set<TrustException> = []
    }

    private final class Storage: Sendable {
        let parts: Parts
        let hash: Int

        init(_ parts: Parts) {
            self.parts = parts
            hash = parts.hashValue
        }
    }

    private var storage: Storage

    init(_ parts: Parts = Parts()) {
        storage = Storage(parts)
    }

    init(anchors: TrustAnchors, proxy: Proxy? = nil, credential: Credential? = nil) {
        self.init(Parts(anchors: anchors, proxy: proxy, credential: credential))
    }

    /// One of the settings. Setting it makes another domain, and costs computing its hash.
    subscript<Value>(dynamicMember part: WritableKeyPath<Parts, Value>) -> Value {
        get { storage.parts[keyPath: part] }
        set {
            var parts = storage.parts
            parts[keyPath: part] = newValue
            storage = Storage(parts)
        }
    }

    static func == (one: TrustDomain, other: TrustDomain) -> Bool {
        one.storage === other.storage
            || one.storage.hash == other.storage.hash && one.storage.parts == other.storage.parts
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(storage.hash)
    }
}

extension TrustDomain: CustomDebugStringConvertible {
    var debugDescription: String { String(reflecting: storage.parts) }
}

extension TrustDomain {
    /// The domain in libcurl's form.
    func tlsOptions(judge: ServerExamination) -> TLSOptions {
        TLSOptions(
            authorities: authorities,
            identity: self.identity?.keyPair,
            versions: self.versions.lowerBound.rawValue...self.versions.upperBound.rawValue,
            // The judge compares names as well, and knows the exceptions.
            checksHost: self.policy.validatesDomainName && self.exceptions.isEmpty,
            // A resumed session shows no certificate, and the pins may have changed.
            resumesSessions: !self.policy.pins && self.identity == nil && self.exceptions.isEmpty,
            judge: judge
        )
    }

    private var authorities: TLSOptions.Authorities {
        if case .certificates(let certificates) = self.anchors {
            return .certificates(Self.pem(certificates))
        }
        let places = self.anchors.places
        return places.isEmpty ? .standard : .places(file: places.file, directory: places.directory)
    }

    private static func pem(_ certificates: [X509Certificate]) -> Data {
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

/// A server that the challenge closure trusts although the policy does not, while it presents this
/// certificate.
struct TrustException: Hashable, Sendable {
    let host: String
    let certificate: X509Certificate

    /// - Returns: `nil` if nothing is known about the server.
    init?(_ refusal: ServerTrustError) {
        guard let certificate = refusal.serverTrust?.certificates.first else { return nil }
        host = refusal.host
        self.certificate = certificate
    }

    /// The form on disk.
    var digest: String {
        let text = host + "\n" + certificate.der.base64EncodedString()
        return (try? Array(text.utf8).span.sha256Text()) ?? text
    }
}

/// Judges the servers of one transfer according to its policy.
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

    /// Why the last server was rejected.
    var error: ServerTrustError? { failure.withLock { $0 } }

    func refusal(_ check: ServerTrustError.Check) -> ServerTrustError {
        ServerTrustError(host: url.host ?? "", check: check, serverTrust: nil, url: url)
    }

    func accepts(_ certificates: [Data], chain: ChainResult) -> Bool {
        // Without a host, the empty name is compared, which no certificate has.
        let trust = ServerTrust(host: url.host ?? "", presented: certificates, chain: chain, policy: policy)
        let refusal = policy.failedCheck(of: trust).map {
            ServerTrustError(host: url.host ?? "", check: $0, serverTrust: trust, url: url)
        }
        let isException = refusal.flatMap(TrustException.init).map { exceptions.contains($0) } ?? false
        failure.change { $0 = isException ? nil : refusal }
        return refusal == nil || isException
    }
}

extension TrustAnchors {
    /// The versions of the named files. Accesses the disk.
    var fileVersions: [FileVersion?] {
        let places = places
        guard !places.isEmpty else { return [] }
        return [places.file, places.directory].compactMap(\.self).map { FileVersion(path: $0) }
    }
}
