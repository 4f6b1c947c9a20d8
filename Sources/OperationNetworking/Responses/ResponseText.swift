internal import Foundation
internal import FoundationNetworking

/// A body as text, in the character set that the response names.
struct ResponseText: Hashable, Sendable {
    /// UTF-8 when the response names no character set, or one that this system does not know.
    let encoding: String.Encoding
    /// `nil` when there is no body, or the body is not text in that encoding.
    let string: String?

    init(data: Data?, response: HTTPURLResponse?) {
        encoding = response?.charset.flatMap(String.Encoding.init(charset:)) ?? .utf8
        string = data.flatMap { [encoding] in String(data: $0, encoding: encoding) }
    }
}

extension HTTPURLResponse {
    /// What the `Content-Type` says. Not `mimeType` and `textEncodingName`, which on Linux miss a parameter
    /// that is not in lower case.
    var mediaType: MediaType? {
        value(forHTTPHeaderField: "Content-Type").flatMap(MediaType.init(fieldValue:))
    }

    /// The name of the character set, as written.
    var charset: String? { mediaType?.charset }
}
