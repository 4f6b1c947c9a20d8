package import Foundation
internal import OperationNetworkingSystem

/// How a request's servers are verified. Bytes that were received under one verification are not trusted
/// under another.
///
/// | The request                                                                      | Its verification  |
/// |----------------------------------------------------------------------------------|-------------------|
/// | without TLS                                                                      | ``anyServer``     |
/// | a policy that accepts every server                                               | ``anyServer``     |
/// | the default policy, and the authorities of the system                            | ``standard``      |
/// | another policy, other authorities, or redirects that may lead from https to http | a digest of these |
///
/// An impostor can send any validator and any bytes. So bytes that were received under one verification are
/// neither resumed nor considered complete under another, whatever their validators are; only ``anyServer``
/// accepts all others. Authorities on disk are identified by path, not by content, because a bundle may be
/// renewed. The text is the same in every process and version.
package struct ServerVerification: Hashable, Sendable {
    /// No verification: any server on the way could have sent the bytes.
    package static let anyServer = ServerVerification(text: "none")
    /// The default.
    package static let standard = ServerVerification(text: "")

    /// The form that is stored; not a secret.
    let text: String

    init(text: String) {
        self.text = text
    }

    /// - Parameters:
    ///   - url: the URL of the request.
    ///   - policy: the request's security policy.
    ///   - anchors: the trusted authorities.
    ///   - allowsDowngrade: whether redirects may lead from https to http.
    package init(
        of url: URL?,
        by policy: SecurityPolicy,
        trusting anchors: TrustAnchors,
        allowsDowngrade: Bool
    ) {
        if url?.isTLS != true || policy.acceptsEveryServer {
            self = .anyServer
        } else if policy.verdictText == SecurityPolicy.default.verdictText, anchors.areOfSystem,
            !allowsDowngrade
        {
            self = .standard
        } else {
            let texts = [policy.verdictText, anchors.verdictText]
            // With pins, http is refused anyway.
            self.init(text: Self.digest(texts + (allowsDowngrade && !policy.pins ? ["downgrade"] : [])))
        }
    }

    /// The verification of a request with default settings.
    static func usual(for url: String) -> ServerVerification {
        url.lowercased().hasPrefix("https:") ? .standard : .anyServer
    }

    /// The form that is stored beside a URL; `nil` if it is the usual one.
    func note(besides url: String) -> String? {
        self == .usual(for: url) ? nil : text
    }

    /// The verifications whose complete files are accepted, as far as they can be enumerated.
    var accepted: [ServerVerification] { self == .anyServer ? [.anyServer, .standard] : [self] }

    /// Whether bytes that were received under `other` can be resumed, or are complete, under this one.
    func accepts(_ other: ServerVerification) -> Bool { self == .anyServer || self == other }

    /// A copy that includes servers, as digests, that only the challenge's closure trusted.
    func trusting(_ servers: [String]) -> ServerVerification {
        self == .anyServer || servers.isEmpty
            ? self : ServerVerification(text: ([text] + servers).joined(separator: " "))
    }

    /// Whether a file that an earlier process of the same program completed under `other` is complete: a
    /// closure that trusted a server would trust it again.
    func accepts(finished other: ServerVerification, asksAboutServers: Bool) -> Bool {
        accepts(other) || asksAboutServers && accepts(other.withoutTrustedServers)
    }

    private var withoutTrustedServers: ServerVerification {
        ServerVerification(text: String(text.prefix { $0 != " " }))
    }

    /// Returns the digest of a policy and authorities.
    static func digest(_ policy: SecurityPolicy, _ anchors: TrustAnchors) -> String {
        digest([policy.verdictText, anchors.verdictText])
    }

    private static func digest(_ texts: [String]) -> String {
        // Without a digest, it is unique.
        (try? Array(texts.joined(separator: "\n\n").utf8).span.sha256Text()) ?? UUID().uuidString
    }
}

extension SecurityPolicy {
    /// Whether every certificate is accepted.
    fileprivate var acceptsEveryServer: Bool { !pins && allowInvalidCertificates && !validatesDomainName }

    /// Everything that the evaluation depends on, in a deterministic order.
    fileprivate var verdictText: String {
        let pins =
            switch pinningMode {
            case .none: [String]()
            case .publicKey: publicKeys.descriptions
            case .certificate: pinnedCertificates.map { $0.der.base64EncodedString() }
            }
        let words = [
            pinningMode.rawValue, "invalid \(allowInvalidCertificates)", "names \(validatesDomainName)",
        ]
        return (words + pins.sorted()).joined(separator: "\n")
    }
}

extension TrustAnchors {
    /// Whether these are the system's authorities, under whatever path.
    var areOfSystem: Bool { self == .system && places.isEmpty || verdictText == "system" }

    /// The authorities, or their paths. Symbolic links are not resolved, because a bundle may be renewed by
    /// changing one.
    fileprivate var verdictText: String {
        if case .certificates(let certificates) = self {
            return (["certificates"] + certificates.map { $0.der.base64EncodedString() }.sorted())
                .joined(separator: "\n")
        }
        if places.areOfSystem { return "system" }
        func path(_ path: String?) -> String {
            path.map { URL(fileURLWithPath: $0).standardizedFileURL.path } ?? "none"
        }
        return "file \(path(places.file)) directory \(path(places.directory))"
    }
}

extension AuthorityPlaces {
    /// Whether both are the system's, with symbolic links resolved.
    fileprivate var areOfSystem: Bool {
        guard case .places(let systemFile, let systemDirectory) = CurlLibrary.authorities else {
            return false
        }
        func isSame(_ path: String?, _ own: String?) -> Bool {
            guard let path else { return true }
            return own.map { Self.resolved(path) == Self.resolved($0) } ?? false
        }
        return isSame(file, systemFile) && isSame(directory, systemDirectory)
    }

    private static func resolved(_ path: String) -> String {
        URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    }
}
