import Foundation

/// The user information of a URL, `user:password@`, which is a secret.
extension URL {
    /// Whether the URL may have user information, which ends with this character. A quick check, as it is
    /// rare elsewhere in URLs.
    var mayHaveUserInformation: Bool { absoluteString.utf8.contains(UInt8(ascii: "@")) }

    /// The URL without user information.
    var withoutUserInformation: URL {
        // Percent-encoded, because octets that are not UTF-8 are secret, too.
        guard mayHaveUserInformation,
            user(percentEncoded: true) != nil || password(percentEncoded: true) != nil,
            var components = URLComponents(url: self, resolvingAgainstBaseURL: true)
        else { return self }
        components.user = nil
        components.password = nil
        // Without a result the URL cannot be requested anyway.
        return components.url ?? self
    }

    /// The user, decoded if possible; empty if there is only a password; `nil` if the URL has neither.
    var namedUser: String? {
        let user = user(percentEncoded: true) ?? ""
        guard !user.isEmpty || password(percentEncoded: true)?.isEmpty == false else { return nil }
        return user.removingPercentEncoding ?? user
    }
}
