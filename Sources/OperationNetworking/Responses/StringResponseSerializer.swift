public import Foundation
public import FoundationNetworking

/// The body as a `String`.
///
/// | Response                                       | Result                                                |
/// |------------------------------------------------|-------------------------------------------------------|
/// | names a character set (`charset=iso-8859-1`)   | the text in that set                                  |
/// | names none, or one that the system does not know | the text in ``fallbackEncoding``                    |
/// | empty body                                     | `""`                                                  |
/// | octets that are not text in their set          | an error: nothing is replaced by question marks       |
/// | unacceptable status                            | an error with the text, if it is one, as its `responseObject` |
///
/// A byte order mark at the beginning is no part of the text.
///
/// ```swift
/// let robots = try await manager.response("GET", "robots.txt", with: StringResponseSerializer())
/// ```
public struct StringResponseSerializer: ValidatingResponseSerializer, MessageSerializer, Hashable,
    ArchivableResponseSerializer
{
    /// 200 to 299 and every media type unless set.
    public var validation = HTTPResponseSerializer()

    /// The encoding of a body whose response names no character set, or an unknown one. UTF-8 unless set.
    public var fallbackEncoding: String.Encoding {
        get { fallback.value }
        set { fallback.value = newValue }
    }
    private var fallback: RawCoded<String.Encoding>

    /// A serializer that accepts 200 to 299 and every media type.
    public init(fallbackEncoding: String.Encoding = .utf8) {
        fallback = RawCoded(fallbackEncoding)
    }

    // MARK: - ResponseSerializer

    /// The text of an acceptable response.
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

    /// Decoding takes less than a nanosecond a byte, or some twenty in a set that only iconv(3) knows.
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
