internal import OperationNetworkingSystem

/// Settings that a manager and its operations have in common, until one of them changes its own.
///
/// A copy is one reference: a request is handed on several times, and 100,000 may wait in a queue.
struct SharedSettings: Sendable {
    private final class Box: Sendable {
        let settings: TransferSettings
        let domain = Locked<TrustDomain?>(nil)

        init(_ settings: TransferSettings) {
            self.settings = settings
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
            defer { box = Box(settings) }
            yield &settings
        }
    }

    /// The domain of a transfer with these settings, before its proxy and its connection's credential are
    /// known. Made once.
    var trustDomain: TrustDomain {
        box.domain.withLock { domain in
            if let domain { return domain }
            let parts = TrustDomain.Parts(
                policy: box.settings.securityPolicy,
                anchors: box.settings.trustAnchors,
                identity: box.settings.clientIdentity,
                versions: box.settings.tlsVersions
            )
            let made = TrustDomain(parts)
            domain = made
            return made
        }
    }

    /// Whether a request with them names a user by what no archive has.
    var namesUser: Bool {
        box.settings.credential != nil || box.settings.clientIdentity != nil
            || box.settings.tokenSource != nil || !box.settings.requestAdapters.isEmpty
            || box.settings.cookieJar.map { $0 !== CookieJar.shared } ?? false
    }
}
