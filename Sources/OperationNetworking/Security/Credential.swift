public import FoundationNetworking

/// A user name and password, a bearer token, or Kerberos tickets.
///
/// | Kind                     | Schemes                                 |
/// |--------------------------|-----------------------------------------|
/// | ``init(user:password:)`` | the strongest of Digest, NTLM and Basic |
/// | ``init(bearerToken:)``   | Bearer                                  |
/// | ``systemTickets``        | Negotiate, with the tickets of kinit(1) |
///
/// Its description and `dump` hide the secret. Names, passwords and tokens are sent as UTF-8. A request with
/// a credential that cannot be sent fails with a ``CredentialError``.
public struct Credential: Hashable, Sendable {
    enum Secret: Hashable, Sendable {
        case password(user: String, password: String)
        case token(String)
        case tickets
    }

    let secret: Secret

    /// Creates a credential from a user name and a password. For NTLM the name may include a domain,
    /// `domain\user`.
    public init(user: String, password: String) {
        secret = .password(user: user, password: password)
    }

    /// Creates a credential from a bearer token ([RFC 6750](https://www.rfc-editor.org/rfc/rfc6750)).
    public init(bearerToken: String) {
        secret = .token(bearerToken)
    }

    /// Creates a credential from the user and password of a `URLCredential`.
    ///
    /// - Returns: `nil` if it has no user or no password.
    public init?(_ credential: URLCredential) {
        guard let user = credential.user, let password = credential.password else { return nil }
        self.init(user: user, password: password)
    }

    private init(secret: Secret) {
        self.secret = secret
    }

    /// The Kerberos tickets of the process, which need no password.
    public static let systemTickets = Credential(secret: .tickets)

    /// The user name; `nil` for tokens and tickets.
    public var user: String? {
        guard case .password(let user, _) = secret else { return nil }
        return user
    }
}

// MARK: - Checking

extension Credential {
    /// Throws if the credential cannot be transmitted unchanged with the scheme.
    func check(for scheme: AuthenticationScheme) throws(CredentialError) {
        switch secret {
        case .password(let user, let password):
            guard !user.hasControlCharacter else { throw .controlCharacter(in: .user) }
            guard !password.hasControlCharacter else { throw .controlCharacter(in: .password) }
            // RFC 7617 §2: the first colon ends the name.
            guard scheme != .basic || !user.utf8.contains(UInt8(ascii: ":")) else { throw .colonInUser }
        case .token(let token):
            guard !token.hasControlCharacter else { throw .controlCharacter(in: .token) }
            guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw .invalidToken
            }
        case .tickets:
            break
        }
    }
}

extension String {
    fileprivate var hasControlCharacter: Bool {
        unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}

// MARK: - CustomStringConvertible, CustomReflectable

extension Credential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The credential's kind and user name, without its secret.
    public var description: String {
        switch secret {
        case .password(let user, _): "user \(user.debugDescription), password hidden"
        case .token: "bearer token, hidden"
        case .tickets: "tickets of the system"
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["kind": description]) }
}
