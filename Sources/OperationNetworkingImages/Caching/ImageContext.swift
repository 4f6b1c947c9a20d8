internal import Foundation
internal import FoundationNetworking
internal import OperationNetworking

/// The facts that an image depends on besides its request: whom the manager sends that as, and how the server
/// is verified. What one user's password, token, certificate or cookies open is not another user's, and what
/// one policy lets in, another one has to refuse.
///
/// | The manager                                                | The identity         |
/// |------------------------------------------------------------|----------------------|
/// | adds nothing, or nothing that goes to the request's origin | the request's own    |
/// | has a credential, a token, a client certificate, cookies   | these, as they are   |
/// | has request adapters, or a closure that answers challenges | `nil`: not known     |
/// | uses a credential storage, which knows the host            | `nil`: not known     |
struct ImageContext: Hashable, Sendable {
    /// No user, and the default policy.
    static let standard = ImageContext()

    private var identity = RequestIdentity.none
    /// A source whose token is not known yet is a user of its own.
    private var source: ObjectReference<TokenSource>?
    private var policy = SecurityPolicy.default
    private var anchors = TrustAnchors.system
    /// Whether a redirect may lead to http, where anything on the way may answer.
    private var allowsDowngrade = false

    private init() {}

    /// Whom the request alone names, and the default policy.
    init(_ request: URLRequest) {
        identity = RequestIdentity(request)
    }

    /// No user, and the same verification of the server.
    var withoutUser: ImageContext {
        var context = Self.standard
        (context.policy, context.anchors, context.allowsDowngrade) = (policy, anchors, allowsDowngrade)
        return context
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
        var cookies: [String] = []
        let fields = request.choosingFields
        if request.httpShouldHandleCookies, let jar = settings.cookieJar, fields["cookie"] == nil {
            // Names the host whose cookies are sent.
            if fields["host"] != nil { return nil }
            cookies = jar.cookies(for: url).map { "\($0.name)=\($0.value)" }
        }
        source = isAtHome ? settings.tokenSource.map { ObjectReference($0) } : nil
        identity = RequestIdentity(
            request,
            credential: isAtHome ? settings.credential : nil,
            token: isAtHome ? settings.tokenSource?.token?.value : nil,
            clientIdentity: settings.clientIdentity,
            cookies: cookies,
            secretFields: settings.redirectPolicy.ownSecretFields
        )
    }
}

// MARK: - CustomReflectable

extension ImageContext: CustomReflectable {
    /// Whether it names a user: `dump` would show secrets.
    var customMirror: Mirror { Mirror(self, children: ["namesUser": namesUser]) }
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
