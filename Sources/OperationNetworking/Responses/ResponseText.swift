internal import Foundation

/// A body as text, in the character set that the response names.
struct ResponseText: Hashable, Sendable {
    /// The nearest of Foundation's encodings. UTF-8 when the response names no character set, one that this
    /// system does not know, or one that has no number in Foundation.
    let encoding: String.Encoding
    /// `nil` when there is no body, or the body is not text in its character set. That of a response without
    /// a character set, or with an unknown one, is UTF-8.
    let string: String?

    init(data: Data?, response: ReceivedResponse?) {
        let set = response?.charset.flatMap(NamedCharacterSet.init(name:)) ?? .utf8
        encoding = set.encoding ?? .utf8
        string = data.flatMap(set.decode)
    }
}
