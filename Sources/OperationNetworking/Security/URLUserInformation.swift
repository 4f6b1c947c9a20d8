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
    /// User and password, decoded; `nil` when the URL names no user.
    ///
    /// - Throws: ``CredentialError/notUTF8(in:)`` for what cannot be decoded: another text would be sent.
    func userInformation() throws(CredentialError) -> URLUserInformation? {
        guard let encodedUser = user(percentEncoded: true), !encodedUser.isEmpty else { return nil }
        guard let user = encodedUser.removingPercentEncoding else { throw .notUTF8(in: .user) }
        guard let encodedPassword = password(percentEncoded: true) else {
            return URLUserInformation(user: user)
        }
        guard let password = encodedPassword.removingPercentEncoding else { throw .notUTF8(in: .password) }
        return URLUserInformation(user: user, password: password)
    }
}
