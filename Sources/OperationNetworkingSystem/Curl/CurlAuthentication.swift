/// A name and a password for a server, and the one way to send them.
package struct CurlAuthentication: Hashable, Sendable {
    /// The schemes that libcurl does by itself.
    package enum Scheme: Hashable, Sendable {
        case basic
        /// Asks, and answers what the server then wants to know; so does the next.
        case ntlm
        case negotiate
    }

    package var scheme: Scheme
    package var user: String
    package var password: String

    /// Two empty texts stand, for Negotiate, for the user of the tickets.
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
