/// An authentication scheme: the first word of a challenge
/// ([RFC 9110 §11.1](https://www.rfc-editor.org/rfc/rfc9110#section-11.1)).
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum AuthenticationScheme: Hashable, Codable, Sendable {
    /// The password, in the clear but for TLS (RFC 7617).
    case basic
    /// A digest of the password and of what the server said (RFC 7616).
    case digest
    /// Microsoft's, which authenticates connections.
    case ntlm
    /// Kerberos (RFC 4559), which authenticates connections.
    case negotiate
    /// A token (RFC 6750).
    case bearer
    /// An unsupported scheme, in lower case.
    case other(String)

    /// The schemes that can be answered.
    public static let supported: Set<AuthenticationScheme> = [.basic, .digest, .ntlm, .negotiate, .bearer]

    /// By its name, in any case.
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

    /// In lower case; the same as ``init(_:)`` reads.
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

    /// Whether it authenticates the connection, not the request: other credentials may then not use that
    /// connection. libcurl answers the server's questions by itself, several perhaps, within one transfer.
    var isConnectionBased: Bool { self == .ntlm || self == .negotiate }
}
