public import Foundation

/// Why a credential was not sent. Does not contain the credential.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum CredentialError: Error, Hashable, Sendable {
    /// A part of a credential.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Part: String, Hashable, Sendable {
        /// The user name.
        case user
        /// The password.
        case password
        /// The token.
        case token
    }

    /// A line end or another control character, which could begin another field, or which no scheme allows
    /// ([RFC 7617 §2](https://www.rfc-editor.org/rfc/rfc7617#section-2)).
    case controlCharacter(in: Part)
    /// The user name contains a colon, where the password would begin in Basic.
    case colonInUser
    /// A part is not UTF-8, such as `p%E4ss` in a URL (ISO 8859-1).
    case notUTF8(in: Part)
    /// A token is empty or contains characters other than visible ASCII.
    case invalidToken
}

extension CredentialError: CustomStringConvertible, LocalizedError {
    /// One sentence.
    public var description: String {
        switch self {
        case .controlCharacter(let part):
            "The \(part.rawValue) of the credential contains a control character."
        case .colonInUser: "The user name contains a colon, which Basic authentication cannot send."
        case .notUTF8(let part): "The \(part.rawValue) of the credential is not UTF-8."
        case .invalidToken: "The token is empty or contains invalid characters."
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
