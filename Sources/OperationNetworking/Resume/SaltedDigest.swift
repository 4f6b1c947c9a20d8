/// SHA-256 of a text and of a random salt: tells later whether another text is the same, and not what it was.
///
/// Equal texts have different digests, so two files do not show that they have the same. It is fast on
/// purpose, since it is computed for each file on the disk: a reader of it can try out guesses. So passwords
/// that are known as such stay out.
struct SaltedDigest: Hashable, Codable, Sendable {
    /// Both in hexadecimal, of 32 and 64 digits.
    let salt: String
    let digest: String

    /// `salt`: that of another digest beside this one; `nil`: a new one.
    init(of text: String, salt: String? = nil) throws {
        let salt =
            salt
            ?? (0..<16).map { _ in String(UInt16.random(in: 256...511), radix: 16).dropFirst() }.joined()
        self.salt = salt
        digest = try Self.digest(of: text, salt)
    }

    /// - Returns: `nil` if these are not what a digest and its salt look like.
    init?(digest: String, salt: String) {
        guard digest.utf8.count == 64, salt.utf8.count == 32 else { return nil }
        self.digest = digest
        self.salt = salt
    }

    /// Whether it is the digest of this text.
    func isDigest(of text: String) throws -> Bool {
        try Self.digest(of: text, salt) == digest
    }

    private static func digest(of text: String, _ salt: String) throws -> String {
        let bytes = Array((salt + "\n" + text).utf8)
        return try bytes.span.sha256Text()
    }
}

extension RequestIdentity {
    /// The digest of the users that a later process compares with its own; `nil` if there are none.
    var userDigest: SaltedDigest? { isAnonymous ? nil : try? SaltedDigest(of: users) }

    /// Whether it names the users whose ``userDigest`` this is.
    func namesUsers(of digest: SaltedDigest?) -> Bool {
        guard let digest else { return isAnonymous }
        return (try? digest.isDigest(of: users)) ?? false
    }
}
