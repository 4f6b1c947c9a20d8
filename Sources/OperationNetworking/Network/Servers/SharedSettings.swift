internal import OperationNetworkingSystem
import Synchronization

/// Settings that a manager and its operations have in common, until one of them changes its own.
///
/// A copy is one reference: a request is handed on several times, and 100,000 may wait in a queue.
struct SharedSettings: Sendable {
    private final class Box: Sendable {
        let settings: TransferSettings
        let domain = AtomicLazyReference<Domain>()

        init(_ settings: TransferSettings) {
            self.settings = settings
        }
    }

    private final class Domain: Sendable {
        let value: TrustDomain

        init(_ value: TrustDomain) {
            self.value = value
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
        if let known = box.domain.load() { return known.value }
        let settings = box.settings
        let parts = TrustDomain.Parts(
            policy: settings.securityPolicy,
            anchors: settings.trustAnchors,
            identity: settings.clientIdentity,
            versions: settings.tlsVersions
        )
        return box.domain.storeIfNil(Domain(TrustDomain(parts))).value
    }
}
