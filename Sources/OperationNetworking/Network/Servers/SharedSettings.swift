internal import OperationNetworkingSystem

/// Settings that a manager and its operations have in common, until one of them changes its own.
///
/// A copy is one reference: a request is handed on several times, and 100,000 may wait in a queue.
struct SharedSettings: Sendable {
    private final class Box: Sendable {
        let settings: TransferSettings
        private let domain: Locked<TrustDomain?>

        /// - Parameters:
        ///   - settings: these.
        ///   - old: those before a change; most changes do not concern whom is trusted.
        init(_ settings: consuming TransferSettings, changing old: Box? = nil) {
            let domain = old.flatMap { settings.trusts(as: $0.settings) ? $0.trustDomain : nil }
            self.settings = settings
            self.domain = Locked(domain)
        }

        /// Made once: it is hashed, and compared with those of other transfers.
        var trustDomain: TrustDomain {
            domain.withLock { domain in
                if let domain { return domain }
                let parts = TrustDomain.Parts(
                    policy: settings.securityPolicy,
                    anchors: settings.trustAnchors,
                    identity: settings.clientIdentity,
                    versions: settings.tlsVersions
                )
                let made = TrustDomain(parts)
                domain = made
                return made
            }
        }
    }

    /// The settings of an operation that nothing was set on.
    static let standard = SharedSettings(TransferSettings())

    private var box: Box

    init(_ settings: TransferSettings) {
        box = Box(settings)
    }

    /// The settings. Changing them makes them this owner's own.
    var value: TransferSettings {
        _read { yield box.settings }
        _modify {
            var settings = box.settings
            yield &settings
            box = Box(consume settings, changing: box)
        }
    }

    /// The domain of a transfer with these settings, before its proxy and its connection's credential are
    /// known. Made once.
    var trustDomain: TrustDomain { box.trustDomain }

    /// Whether a request with them names a user by what no archive has.
    var namesUser: Bool {
        box.settings.credential != nil || box.settings.clientIdentity != nil
            || box.settings.tokenSource != nil || !box.settings.requestAdapters.isEmpty
            || box.settings.cookieJar.map { $0 !== CookieJar.shared } ?? false
    }
}

extension TransferSettings {
    /// Whether the same servers are trusted, in the same way.
    fileprivate func trusts(as other: TransferSettings) -> Bool {
        securityPolicy == other.securityPolicy && trustAnchors == other.trustAnchors
            && clientIdentity == other.clientIdentity && tlsVersions == other.tlsVersions
    }
}
