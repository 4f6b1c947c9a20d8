public import Foundation

/// Why a credential was not sent. None of the texts themselves is kept.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum CredentialError: Error, Hashable, Sendable {
    /// A text of a credential.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Part: String, Hashable, Sendable {
        /// The name.
        case user
        /// The password.
        case password
        /// The token.
        case token
    }

    /// A line end or another control character, which would begin a field of its own, or which no scheme
    /// allows ([RFC 7617 §2](https://www.rfc-editor.org/rfc/rfc7617#section-2)).
    case controlCharacter(in: Part)
    /// The user's name has a colon, and Basic takes what comes after it for the password.
    case colonInUser
    /// A text is not UTF-8. In a URL its octets have percent signs, as `p%E4ss` in ISO 8859-1.
    case notUTF8(in: Part)
    /// A token is empty, or has something else than visible ASCII characters.
    case invalidToken
}

extension CredentialError: CustomStringConvertible, LocalizedError {
    /// One sentence.
    public var description: String {
        switch self {
        case .controlCharacter(let part): "The \(part.rawValue) of the credential has a control character."
        case .colonInUser: "The user's name has a colon, which Basic authentication cannot send."
        case .notUTF8(let part): "The \(part.rawValue) of the credential is not UTF-8."
        case .invalidToken: "The token is empty, or has characters that no token has."
        }
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}

// MARK: - ClassifiedError

extension CredentialError: ClassifiedError {
    package var traits: FailureTraits {
        .mistake
    }
}
