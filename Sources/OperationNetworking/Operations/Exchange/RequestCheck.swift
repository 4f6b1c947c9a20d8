import Foundation
import FoundationNetworking

/// The checks of a request before an exchange sends it.
extension URLRequest {
    /// Checks whether the request can be sent.
    ///
    /// - Parameter known: the address, if it has been parsed.
    /// - Returns: the address, an http or https URL with a host.
    /// - Throws: `URLError.badURL` or `.unsupportedURL`.
    func checkedAddress(_ known: RequestAddress? = nil) throws(URLError) -> RequestAddress {
        guard let address = known ?? url.map({ RequestAddress($0) }), let scheme = address.origin.scheme,
            address.origin.host?.isEmpty == false
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
        return address
    }

    /// The method, as it is sent.
    /// - Throws: ``RequestSerializationError/invalidMethod(_:)``.
    func checkedMethod() throws(RequestSerializationError) -> String {
        // As nearly every request.
        guard let httpMethod, httpMethod != "GET" else { return "GET" }
        let method = httpMethod.normalizedMethod
        guard method.isHTTPToken else { throw .invalidMethod(httpMethod) }
        return method
    }

    /// Whether an absent body is sent as an empty one, for methods that anticipate content (RFC 9110 §8.6).
    var sendsEmptyBody: Bool {
        guard let httpMethod, httpMethod != "GET" else { return false }
        return ["POST", "PUT", "PATCH"].contains(httpMethod.uppercased())
    }
}
