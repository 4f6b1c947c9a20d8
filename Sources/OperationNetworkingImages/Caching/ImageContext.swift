internal import Foundation
internal import FoundationNetworking
internal import OperationNetworking

/// The part of an image's key besides its request: the identity that the manager sends it with, and how the
/// server is verified. An image that was received with one user's password, token, certificate or cookies
/// must not be given to another user, nor one that was accepted by one security policy to another.
///
/// | The manager                                              | The identity      |
/// |----------------------------------------------------------|-------------------|
/// | adds nothing, or nothing for the request's origin        | the request's own |
/// | has a credential, a token, a client certificate, cookies | includes these    |
/// | has request adapters, or a closure for challenges        | `nil`: unknown    |
/// | uses a credential storage with a credential for the host | `nil`: unknown    |
struct ImageContext: Hashable, Sendable {
    /// No user, and the default security policy.
    static let standard = ImageContext()

    private var identity = RequestIdentity.none
    /// A source whose token is not known yet counts as a separate user.
    private var source: ObjectReference<TokenSource>?
    private var policy = SecurityPolicy.default
    private var anchors = TrustAnchors.system
    /// Whether redirects may lead to http, where the answer can be forged.
    private var allowsDowngrade = false

    private init() {}

    /// Creates the context from the request alone, with the default policy. Fields that only the app's own
    /// list marks as secret are in ``ImageKey``, like all others.
    init(_ request: URLRequest) {
        identity = RequestIdentity(request)
    }

    /// The context without a user, with the same verification of the server.
    var withoutUser: ImageContext {
        var context = Self.standard
        (context.policy, context.anchors, context.allowsDowngrade) = (policy, anchors, allowsDowngrade)
        return context
    }

    var namesUser: Bool { self != withoutUser }

    /// Creates the current context. May block on a cookie storage.
    init?(_ request: URLRequest, by manager: OperationManager) {
        guard let url = request.url else { return }
        if manager.answersChallenges { return nil }
        let settings = manager.readTransferSettings { $0 }
        (policy, anchors) = (settings.securityPolicy, settings.trustAnchors)
        allowsDowngrade = settings.redirectPolicy.allowsDowngrade
        let isBaseOrigin = manager.baseURL.map { $0.hasOrigin(of: url) } ?? true
        if !settings.requestAdapters.isEmpty, isBaseOrigin || manager.secretHeaderScope != .baseURL {
            return nil
        }
        if settings.shouldUseCredentialStorage, URLCredentialStorage.shared.knows(url) { return nil }
        var cookies: [String] = []
        let fields = request.choosingFields
        if request.httpShouldHandleCookies, let jar = settings.cookieJar, fields["cookie"] == nil {
            // Determines the host whose cookies are sent.
            if fields["host"] != nil { return nil }
            cookies = jar.cookies(for: url).map { "\($0.name)=\($0.value)" }
        }
        source = isBaseOrigin ? settings.tokenSource.map { ObjectReference($0) } : nil
        identity = RequestIdentity(
            request,
            credential: isBaseOrigin ? settings.credential : nil,
            token: isBaseOrigin ? settings.tokenSource?.token?.value : nil,
            clientIdentity: settings.clientIdentity,
            cookies: cookies,
            secretFields: settings.redirectPolicy.ownSecretFields
        )
    }
}

// MARK: - CustomReflectable

extension ImageContext: CustomReflectable {
    /// Only whether it has a user, so that `dump` shows no secrets.
    var customMirror: Mirror { Mirror(self, children: ["namesUser": namesUser]) }
}

/// A strong reference, compared by identity. Keeps the object alive so that its address is not reused.
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
    /// Whether the storage has a credential for the URL's host and port.
    fileprivate func knows(_ url: URL) -> Bool {
        let spaces = allCredentials.keys
        return spaces.contains { space in
            !space.isProxy() && space.host.lowercased() == url.host?.lowercased()
                && space.port == url.knownPort
        }
    }
}
