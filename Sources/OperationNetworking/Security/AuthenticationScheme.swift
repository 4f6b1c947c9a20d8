/// An authentication scheme: the first word of a challenge
/// ([RFC 9110 §11.1](https://www.rfc-editor.org/rfc/rfc9110#section-11.1)).
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum AuthenticationScheme: Hashable, Codable, Sendable {
    /// User and password, in the clear unless TLS is used (RFC 7617).
    case basic
    /// A digest of the password and the server's challenge (RFC 7616).
    case digest
    /// Microsoft's scheme, which authenticates connections.
    case ntlm
    /// Kerberos (RFC 4559), which authenticates connections.
    case negotiate
    /// A token (RFC 6750).
    case bearer
    /// An unsupported scheme, in lower case.
    case other(String)

    /// The schemes that can be answered.
    public static let supported: Set<AuthenticationScheme> = [.basic, .digest, .ntlm, .negotiate, .bearer]

    /// Creates a scheme from its name, in any case.
    init(_ name: some StringProtocol) {
        let name = name.lowercased()
        self =
            switch name {
            case "basic": .basic
            case "digest": .digest
            case "ntlm": .ntlm
            case "negotiate": .negotiate
            case "bearer": .bearer
            default: .other(name)
            }
    }

    /// The name in lower case.
    var name: String {
        switch self {
        case .basic: "basic"
        case .digest: "digest"
        case .ntlm: "ntlm"
        case .negotiate: "negotiate"
        case .bearer: "bearer"
        case .other(let name): name
        }
    }

    /// Whether the scheme authenticates the connection instead of the request, so that other credentials must
    /// not reuse the connection. libcurl answers the challenges itself, possibly several within one transfer.
    var isConnectionBased: Bool { self == .ntlm || self == .negotiate }
}
