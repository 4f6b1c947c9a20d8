public import Foundation

/// Whose signature makes a server's certificate trustworthy.
public enum TrustAnchors: Hashable, Codable, Sendable {
    /// The certificate authorities of the system.
    case system
    /// Those in a file, PEM, and no others.
    case file(URL)
}

/// What must be equal for two transfers to share anything: connections, TLS sessions, handles.
///
/// libcurl hands out a connection that was opened under one policy to a transfer with another one, so it never gets
/// the chance: each domain has its own multi handle.
struct TrustDomain: Hashable, Sendable {
    var anchors: TrustAnchors
    /// Who has authenticated the connections, by a scheme that authenticates those; `nil`: nobody.
    var credential: Credential?
}
