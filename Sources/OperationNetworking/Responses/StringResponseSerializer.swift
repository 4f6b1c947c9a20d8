public import Foundation
public import FoundationNetworking

/// A serializer that returns the body as a `String`.
///
/// | Response                                       | Result                                                |
/// |------------------------------------------------|-------------------------------------------------------|
/// | names a character set (`charset=iso-8859-1`)   | the text, decoded with that set                       |
/// | names none, or one that the system does not know | the text, decoded with ``fallbackEncoding``         |
/// | empty body                                     | `""`                                                  |
/// | octets that are not text in their set          | an error; octets are never replaced                   |
/// | unacceptable status                            | an error with the text, if it can be decoded, as its `responseObject` |
///
/// A byte order mark at the beginning is not part of the text.
///
/// ```swift
/// let robots = try await manager.response("GET", "robots.txt", with: StringResponseSerializer())
/// ```
public struct StringResponseSerializer: ValidatingResponseSerializer, MessageSerializer, Hashable,
    ArchivableResponseSerializer
{
    /// The validation. Defaults to 200 to 299 and every media type.
    public var validation = HTTPResponseSerializer()

    /// The encoding of a body whose response names no character set, or an unknown one. Defaults to UTF-8.
    public var fallbackEncoding: String.Encoding {
        get { fallback.value }
        set { fallback.value = newValue }
    }
    private var fallback: RawCoded<String.Encoding>

    /// Creates a serializer that accepts 200 to 299 and every media type.
    public init(fallbackEncoding: String.Encoding = .utf8) {
        fallback = RawCoded(fallbackEncoding)
    }

    // MARK: - ResponseSerializer

    /// Returns the text of an acceptable response.
    ///
    /// - Parameters:
    ///   - response: the head.
    ///   - data: the whole body.
    /// - Returns: a `String`.
    /// - Throws: ``ResponseSerializationError``.
    public func responseObject(for response: HTTPURLResponse?, data: Data?) throws -> (any Sendable)? {
        try responseObject(of: ReceivedMessage(response, data))
    }

    func responseObject(of message: ReceivedMessage) throws -> (any Sendable)? {
        do {
            try validation.validate(message)
        } catch {
            var error = error
            error.responseObject = text(of: message)
            throw error
        }
        guard let text = text(of: message) else {
            throw ResponseSerializationError(
                .undecodableText(charset: message.response?.charset ?? "\(fallbackEncoding)"),
                response: message.response,
                data: message.data
            )
        }
        return text
    }

    /// Decoding takes less than a nanosecond per byte, or some twenty for a set that only iconv(3) knows.
    func isQuick(byteCount: Int?) -> Bool { (byteCount ?? 0) <= 16 * 1024 }

    // MARK: - Private

    private func text(of message: ReceivedMessage) -> String? {
        guard let data = message.data, !data.isEmpty else { return "" }
        let named = message.response?.charset.flatMap(NamedCharacterSet.init(name:))
        let fallback = fallbackEncoding.ianaName.flatMap(NamedCharacterSet.init(name:))
        guard let set = named ?? fallback else { return String(data: data, encoding: fallbackEncoding) }
        return set.decode(data)
    }
}
