/// The digest that replaces a secret in a stored head.
enum SecretDigest {
    /// Returns a digest that is equal in every process. Only a secret that can be guessed can be found by it.
    static func of(_ secret: String) -> String {
        let bytes = Array(("OperationNetworking.cache\n" + secret).utf8)
        // If no digest is available (FIPS mode has SHA-256), the response is only for this process.
        return (try? bytes.span.sha256Text()) ?? "process \(secret.hashValue)"
    }
}

extension RequestIdentity {
    /// A digest that is equal in every process; `nil` if the request names no user. The directory of a cache is readable by its owner only, who can read the responses as well.
    var digest: String? { isAnonymous ? nil : SecretDigest.of(text) }
}
