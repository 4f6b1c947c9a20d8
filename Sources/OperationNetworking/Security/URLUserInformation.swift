import Foundation

/// The decoded user and password of a URL.
struct URLUserInformation: Hashable, Sendable {
    var user: String
    /// `nil` if the URL has only a user.
    var password: String?

    /// As in curl, a missing password is empty.
    var credential: Credential { Credential(user: user, password: password ?? "") }
}

extension URL {
    /// Returns the decoded user and password; `nil` if the URL has neither, or both are empty. One of them
    /// may be empty ([RFC 7617 §2](https://www.rfc-editor.org/rfc/rfc7617#section-2)).
    ///
    /// - Throws: ``CredentialError/notUTF8(in:)`` if a part cannot be decoded.
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
