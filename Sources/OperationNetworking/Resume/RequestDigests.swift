/// Three salted SHA-256 digests of a request, by which a later request is compared with it. The request itself is not
/// stored.
///
/// | Digest          | Covers                                                                        | If it differs |
/// |-----------------|-------------------------------------------------------------------------------|---------------|
/// | ``location``    | the method, scheme, host, port, path, the site that a `Host` field names, and `Accept` | the bytes belong to another file (P17) |
/// | ``sender``      | the query, the credentials (``RequestIdentity``), and the fields that the response's `Vary` names (``VaryingFields``) | the bytes may differ (P17) |
/// | ``selection``   | the method, whether there is a body, and the fields that select a representation | the bytes belong to another representation (P15, P16) |
///
/// A checkpoint and the ``FileRecord`` of a complete file contain them. Because of the salt, equal requests have
/// different digests. SHA-256 is fast, because digests are computed for each file on the disk: anyone who can read them
/// can test guesses of a secret. So known passwords are not covered.
struct RequestDigests: Hashable, Codable, Sendable {
    /// The texts from which the digests are computed.
    struct Texts: Hashable, Sendable {
        var location: String
        var sender: String
        var selection: String
    }

    /// The digests that are equal to those of another request.
    struct Match: OptionSet, Hashable, Sendable {
        let rawValue: Int

        static let location = Match(rawValue: 1)
        static let sender = Match(rawValue: 2)
        static let selection = Match(rawValue: 4)
        static let all: Match = [.location, .sender, .selection]
    }

    /// 32 hexadecimal digits.
    let salt: String
    /// 64 hexadecimal digits, as the next two.
    let location: String
    let sender: String
    let selection: String

    /// Computes the digests with a new salt.
    /// - Throws: ``DigestError`` if OpenSSL refuses SHA-256.
    init(of texts: Texts) throws {
        salt = (0..<16).map { _ in String(UInt16.random(in: 256...511), radix: 16).dropFirst() }.joined()
        location = try Self.digest(of: texts.location, salt)
        sender = try Self.digest(of: texts.sender, salt)
        selection = try Self.digest(of: texts.selection, salt)
    }

    /// Returns the digests that match `texts`.
    func match(_ texts: Texts) -> Match {
        var match: Match = []
        func compare(_ digest: String, _ text: String, _ element: Match) {
            if (try? Self.digest(of: text, salt)) == digest { match.insert(element) }
        }
        compare(location, texts.location, .location)
        compare(sender, texts.sender, .sender)
        compare(selection, texts.selection, .selection)
        return match
    }

    private static func digest(of text: String, _ salt: String) throws -> String {
        let bytes = Array((salt + "\n" + text).utf8)
        return try bytes.span.sha256Text()
    }
}
