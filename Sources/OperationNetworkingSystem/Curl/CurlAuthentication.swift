/// A user and password for a server, and the scheme to send them with.
package struct CurlAuthentication: Hashable, Sendable {
    /// The schemes that libcurl implements.
    package enum Scheme: Hashable, Sendable {
        case basic
        /// Answers further challenges of the server, as does the next.
        case ntlm
        case negotiate
    }

    package var scheme: Scheme
    package var user: String
    package var password: String

    /// For Negotiate, two empty texts mean the user of the tickets.
    package init(scheme: Scheme, user: String, password: String) {
        self.scheme = scheme
        self.user = user
        self.password = password
    }
}

extension CurlAuthentication: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The scheme, without the user.
    package var description: String { "\(scheme), hidden" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: ["authentication": description]) }
}
