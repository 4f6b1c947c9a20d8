package import Foundation
internal import OperationNetworkingSystem

/// The verification of a request's servers: bytes that came under one are not as good as those under another.
///
/// | The request                                                             | Its verification      |
/// |-------------------------------------------------------------------------|-----------------------|
/// | without TLS                                                             | ``anyServer``         |
/// | a policy that accepts every server                                      | ``anyServer``         |
/// | the default policy, and the authorities of the system                   | ``standard``          |
/// | another policy, authorities of its own, or redirects that may lead from https to http | a digest of these |
///
/// An impostor can send any tag, and any last bytes. So bytes that came under one verification are neither
/// continued nor taken for complete under another, whatever their validators are; only ``anyServer`` takes
/// what the others brought. Authorities on the disk count by their path, not by what is in them: a bundle may
/// be renewed. The same in every process and version.
package struct ServerVerification: Hashable, Sendable {
    /// None: every server on the way could have sent the bytes.
    package static let anyServer = ServerVerification(text: "none")
    /// As unless anything is set.
    package static let standard = ServerVerification(text: "")

    /// The form on the disk; no secret.
    let text: String

    init(text: String) {
        self.text = text
    }

    /// - Parameters:
    ///   - url: that of the request.
    ///   - policy: its security policy.
    ///   - anchors: the authorities that it trusts.
    ///   - allowsDowngrade: whether a redirect may lead it from https to http.
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
            // Where something is pinned, http is refused anyway.
            self.init(text: Self.digest(texts + (allowsDowngrade && !policy.pins ? ["downgrade"] : [])))
        }
    }

    /// The verification of a request to a URL for which nothing is set.
    static func usual(for url: String) -> ServerVerification {
        url.lowercased().hasPrefix("https:") ? .standard : .anyServer
    }

    /// The form on the disk beside a URL; `nil`: it is the usual one.
    func note(besides url: String) -> String? {
        self == .usual(for: url) ? nil : text
    }

    /// The verifications whose complete files it takes for its own, as far as they can be named.
    var accepted: [ServerVerification] { self == .anyServer ? [.anyServer, .standard] : [self] }

    /// Whether bytes that came under another one can be continued, or are complete, under this one.
    func accepts(_ other: ServerVerification) -> Bool { self == .anyServer || self == other }

    /// The same, with servers that only the challenge's closure trusted, by their digests.
    func trusting(_ servers: [String]) -> ServerVerification {
        self == .anyServer || servers.isEmpty
            ? self : ServerVerification(text: ([text] + servers).joined(separator: " "))
    }

    /// Whether a file that an earlier process of the same program finished under another one counts as
    /// finished: the closure that trusted a server would trust it again.
    func accepts(finished other: ServerVerification, asksAboutServers: Bool) -> Bool {
        accepts(other) || asksAboutServers && accepts(other.withoutTrustedServers)
    }

    private var withoutTrustedServers: ServerVerification {
        ServerVerification(text: String(text.prefix { $0 != " " }))
    }

    /// The digest of a policy and authorities.
    static func digest(_ policy: SecurityPolicy, _ anchors: TrustAnchors) -> String {
        digest([policy.verdictText, anchors.verdictText])
    }

    private static func digest(_ texts: [String]) -> String {
        // Without a digest it is equal to no other.
        (try? Array(texts.joined(separator: "\n\n").utf8).span.sha256Text()) ?? UUID().uuidString
    }
}

extension SecurityPolicy {
    /// Whether it refuses no certificate.
    fileprivate var acceptsEveryServer: Bool { !pins && allowInvalidCertificates && !validatesDomainName }

    /// All that its verdict depends on, the same in each process: nothing in the order of a set.
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
    /// Whether they are those of the system, by whatever name.
    var areOfSystem: Bool { self == .system && places.isEmpty || verdictText == "system" }

    /// The authorities, or the places of those on the disk. Links in them are not followed: a bundle may be
    /// renewed by leading one elsewhere.
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
    /// Whether each is the system's, behind links.
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
