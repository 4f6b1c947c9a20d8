import Foundation

/// The address of a request, parsed once: a request makes its `URL` anew each time, and a `URL` its parts.
///
/// A class, because it is passed on several times.
final class RequestAddress: Sendable {
    let url: URL
    /// The URL as text.
    let text: String
    let origin: Origin
    /// Whether the URL may have user information.
    let mayHaveUserInformation: Bool

    init(_ url: URL) {
        self.url = url
        text = url.absoluteString
        if let plain = Origin(plain: text) {
            origin = plain
            mayHaveUserInformation = false
        } else {
            origin = Origin(parsing: url)
            mayHaveUserInformation = url.mayHaveUserInformation
        }
    }
}
