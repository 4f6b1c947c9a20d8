import Foundation

/// User and password of a URL, decoded.
struct URLUserInformation: Hashable, Sendable {
    var user: String
    /// `nil`: the URL names the user alone.
    var password: String?

    /// As in curl: without a password it is an empty one.
    var credential: Credential { Credential(user: user, password: password ?? "") }
}

extension URL {
    /// User and password, decoded; `nil` when the URL has neither, or both are empty. One of them may be:
    /// [RFC 7617 §2](https://www.rfc-editor.org/rfc/rfc7617#section-2).
    ///
    /// - Throws: ``CredentialError/notUTF8(in:)`` for what cannot be decoded: another text would be sent.
    func userInformation() throws(CredentialError) -> URLUserInformation? {
        let encodedUser = user(percentEncoded: true) ?? ""
        let encodedPassword = password(percentEncoded: true)
        guard !encodedUser.isEmpty || encodedPassword?.isEmpty == false else { return nil }
        guard let user = encodedUser.removingPercentEncoding else { throw .notUTF8(in: .user) }
        guard let encodedPassword else { return URLUserInformation(user: user) }
        guard let password = encodedPassword.removingPercentEncoding else { throw .notUTF8(in: .password) }
        return URLUserInformation(user: user, password: password)
    }
}
