import Foundation

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

    /// The user, decoded if that can be; empty beside a password alone; `nil`: the URL names none.
    var namedUser: String? {
        let user = user(percentEncoded: true) ?? ""
        guard !user.isEmpty || password(percentEncoded: true)?.isEmpty == false else { return nil }
        return user.removingPercentEncoding ?? user
    }
}
