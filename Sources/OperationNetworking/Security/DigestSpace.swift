internal import Foundation

/// A URI of a Digest challenge's `domain`, below which the server takes the same proof ([RFC 7616
/// §3.3](https://www.rfc-editor.org/rfc/rfc7616#section-3.3)).
struct DigestSpace: Hashable, Sendable {
    /// The most that are kept: what is beyond them is asked for once more, and no more than that.
    private static let maximumCount = 64
    private static let root = URL(string: "http://origin.invalid/")

    /// A URL of the server; `nil`: the one that has sent the challenge.
    let server: URL?
    /// With its percent signs.
    let path: String

    /// The first URIs of a `domain`; those that are none cover nothing.
    static func spaces(_ domain: String) -> [DigestSpace] {
        domain.split(separator: " ", maxSplits: maximumCount).prefix(maximumCount).map { DigestSpace($0) }
    }

    private init(_ uri: Substring) {
        guard !uri.hasPrefix("//"), let url = URL(string: String(uri), relativeTo: Self.root)?.absoluteURL
        else {
            // No encoded path begins with it.
            (server, path) = (nil, " ")
            return
        }
        server = url.host == Self.root?.host ? nil : url
        path = url.path(percentEncoded: true)
    }
}
