import Foundation
import FoundationNetworking

/// The checks of a request before an exchange sends it.
extension URLRequest {
    /// The URL: with a host, and http or https.
    func checkedURL() throws(URLError) -> URL {
        guard let url, let scheme = url.scheme?.lowercased(), url.host?.isEmpty == false else {
            throw URLError(
                .badURL,
                url: url,
                sentence: "The request has no URL with a scheme and a host."
            )
        }
        guard scheme == "http" || scheme == "https" else {
            throw URLError(.unsupportedURL, url: url, sentence: "\(scheme) is not http or https.")
        }
        return url
    }

    /// Methods that mean to send something say that it was nothing (RFC 9110 §8.6).
    var sendsEmptyBody: Bool { ["POST", "PUT", "PATCH"].contains(httpMethod?.uppercased()) }
}
