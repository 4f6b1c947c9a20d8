internal import OperationNetworkingSystem

/// Settings that a manager shares with its operations, until one of them changes its copy.
///
/// A copy is one reference: a request is passed on several times, and 100,000 may wait in a queue.
struct SharedSettings: Sendable {
    private final class Box: Sendable {
        let settings: TransferSettings
        private let domain: Locked<TrustDomain?>

        /// - Parameters:
        ///   - settings: the settings.
        ///   - old: the settings before a change; most changes do not affect trust.
        init(_ settings: consuming TransferSettings, changing old: Box? = nil) {
            let domain = old.flatMap { settings.trusts(as: $0.settings) ? $0.trustDomain : nil }
            self.settings = settings
            self.domain = Locked(domain)
        }

        /// The trust domain, made once: it is hashed, and compared with those of other transfers.
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

    /// The default settings of an operation.
    static let standard = SharedSettings(TransferSettings())

    private var box: Box

    init(_ settings: TransferSettings) {
        box = Box(settings)
    }

    /// The settings. Changing them makes a copy for this owner.
    var value: TransferSettings {
        _read { yield box.settings }
        _modify {
            var settings = box.settings
            yield &settings
            box = Box(consume settings, changing: box)
        }
    }

    /// The domain of a transfer with these settings, before its proxy and its connection's credential are
    /// known. Made only once.
    var trustDomain: TrustDomain { box.trustDomain }

    /// Whether the settings identify a user by something that an archive does not contain.
    var namesUser: Bool {
        box.settings.credential != nil || box.settings.clientIdentity != nil
            || box.settings.tokenSource != nil || !box.settings.requestAdapters.isEmpty
            || box.settings.cookieJar.map { $0 !== CookieJar.shared } ?? false
    }
}

extension TransferSettings {
    /// Whether both settings trust the same servers, in the same way.
    fileprivate func trusts(as other: TransferSettings) -> Bool {
        securityPolicy == other.securityPolicy && trustAnchors == other.trustAnchors
            && clientIdentity == other.clientIdentity && tlsVersions == other.tlsVersions
    }
}
