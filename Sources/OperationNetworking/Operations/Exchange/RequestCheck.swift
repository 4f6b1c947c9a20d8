import Foundation
import FoundationNetworking

/// The checks of a request before an exchange sends it.
extension URLRequest {
    /// Checks whether the request can be sent.
    ///
    /// - Parameter origin: the origin of the URL, if it is known.
    /// - Returns: the http or https URL, which has a host, and its origin.
    /// - Throws: `URLError.badURL` or `.unsupportedURL`.
    func checkedURL(_ origin: Origin? = nil) throws(URLError) -> (URL, Origin) {
        guard let url, let origin = origin ?? self.url.map({ Origin($0) }), let scheme = origin.scheme,
            origin.host?.isEmpty == false
        else {
            throw URLError(
                .badURL,
                url: url,
                sentence: "The request has no URL with a scheme and a host."
            )
        }
        guard scheme == "http" || scheme == "https" else {
            throw URLError(.unsupportedURL, url: url, sentence: "\(scheme.excerpt()) is not http or https.")
        }
        return (url, origin)
    }

    /// Whether an absent body is sent as an empty one, for methods that anticipate content (RFC 9110 §8.6).
    var sendsEmptyBody: Bool {
        guard let httpMethod, httpMethod != "GET" else { return false }
        return ["POST", "PUT", "PATCH"].contains(httpMethod.uppercased())
    }
}
