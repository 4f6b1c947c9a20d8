import Foundation

/// User and password of a URL, decoded.
struct URLUserInformation: Hashable, Sendable {
    var user: String
    /// `nil`: the URL names the user alone.
    var password: String?

    /// As in curl: without a password it is an empty one.
    var credential: Credential { Credential(user: user, password: password ?? "") }
}

/// The part of a URL before the host, `user:password@`: a secret, and no part of an address.
extension URL {
    /// Whether there may be any: it ends with this character, which is rare elsewhere in a URL.
    var mayHaveUserInformation: Bool { absoluteString.utf8.contains(UInt8(ascii: "@")) }

    /// The URL without it.
    var withoutUserInformation: URL {
        // Encoded: what is no UTF-8 is a secret, too.
        guard user(percentEncoded: true) != nil || password(percentEncoded: true) != nil,
            var components = URLComponents(url: self, resolvingAgainstBaseURL: true)
        else { return self }
        components.user = nil
        components.password = nil
        // Without one the URL is none that could be asked.
        return components.url ?? self
    }

    /// User and password, decoded; `nil` when the URL names no user.
    var userInformation: URLUserInformation? {
        guard let user = user(percentEncoded: false), !user.isEmpty else { return nil }
        return URLUserInformation(user: user, password: password(percentEncoded: false))
    }
}
