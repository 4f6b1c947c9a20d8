internal import Foundation
internal import FoundationNetworking
internal import OperationNetworking

/// The user that a server takes the sender of a request for, by what a manager adds to it: what one user's
/// password, token, certificate or cookies open is not another user's. And how the server is verified: what
/// one policy lets in, another one has to refuse.
///
/// | The manager                                                | The asker            |
/// |------------------------------------------------------------|----------------------|
/// | adds nothing, or nothing that goes to the request's origin | names no user        |
/// | has a credential, a token, a client certificate, cookies   | these, as they are   |
/// | has request adapters, or a closure that answers challenges | `nil`: not known     |
/// | uses a credential storage, which knows the host            | `nil`: not known     |
/// | has a security policy, authorities                         | has these besides    |
struct ImageAsker: Hashable, Sendable {
    /// No user, and the default policy.
    static let unnamed = ImageAsker()

    private var credential: Credential?
    private var token: String?
    private var source: ObjectReference<TokenSource>?
    private var identity: ClientIdentity?
    private var cookies: [String] = []
    private var policy = SecurityPolicy.default
    private var anchors = TrustAnchors.system
    /// Whether a redirect may lead to http, where anything on the way may answer.
    private var allowsDowngrade = false

    private init() {}

    /// No user, and the same verification of the server.
    var withoutUser: ImageAsker {
        var asker = Self.unnamed
        (asker.policy, asker.anchors, asker.allowsDowngrade) = (policy, anchors, allowsDowngrade)
        return asker
    }

    var namesUser: Bool { self != withoutUser }

    /// As things are now. A cookie storage may be waited for.
    init?(_ request: URLRequest, by manager: OperationManager) {
        guard let url = request.url else { return }
        if manager.answersChallenges { return nil }
        let settings = manager.readTransferSettings { $0 }
        (policy, anchors) = (settings.securityPolicy, settings.trustAnchors)
        allowsDowngrade = settings.redirectPolicy.allowsDowngrade
        let isAtHome = manager.baseURL.map { $0.hasOrigin(of: url) } ?? true
        if !settings.requestAdapters.isEmpty, isAtHome || manager.secretHeaderScope != .baseURL { return nil }
        if settings.shouldUseCredentialStorage, URLCredentialStorage.shared.knows(url) { return nil }
        if isAtHome {
            credential = settings.credential
            token = settings.tokenSource?.token?.value
            source = settings.tokenSource.map { ObjectReference($0) }
        }
        identity = settings.clientIdentity
        guard request.httpShouldHandleCookies, let jar = settings.cookieJar else { return }
        let fields = request.choosingFields
        if fields["cookie"] != nil { return }
        // Names the host whose cookies are sent.
        if fields["host"] != nil { return nil }
        cookies = jar.cookies(for: url).map { "\($0.name)=\($0.value)" }
    }
}

// MARK: - CustomReflectable

extension ImageAsker: CustomReflectable {
    /// Whether it names a user: `dump` would show secrets.
    var customMirror: Mirror { Mirror(self, children: ["isUnnamed": !namesUser]) }
}

/// An object that is equal to itself only, and is kept, so that no later one has its address.
struct ObjectReference<Object: AnyObject & Sendable>: Hashable, Sendable {
    let object: Object

    init(_ object: Object) {
        self.object = object
    }

    static func == (one: ObjectReference, other: ObjectReference) -> Bool { one.object === other.object }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(object))
    }
}

extension URL {
    fileprivate func hasOrigin(of other: URL) -> Bool {
        scheme?.lowercased() == other.scheme?.lowercased() && host?.lowercased() == other.host?.lowercased()
            && knownPort == other.knownPort
    }

    fileprivate var knownPort: Int? {
        if let port { return port }
        return switch scheme?.lowercased() {
        case "http": 80
        case "https": 443
        default: nil
        }
    }
}

extension URLCredentialStorage {
    /// Whether a credential may be sent to the URL's host and port without being set here.
    fileprivate func knows(_ url: URL) -> Bool {
        let spaces = allCredentials.keys
        return spaces.contains { space in
            !space.isProxy() && space.host.lowercased() == url.host?.lowercased()
                && space.port == url.knownPort
        }
    }
}
