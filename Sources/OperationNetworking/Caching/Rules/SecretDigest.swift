/// The digest that stands for a secret in the index.
enum SecretDigest {
    /// Cannot be turned back, and is the same in each process.
    static func of(_ secret: String) -> String {
        let bytes = Array(("OperationNetworking.cache\n" + secret).utf8)
        // Where no digest is computed (FIPS mode has this one), the response is for this process only.
        return (try? bytes.span.sha256Text()) ?? "process \(secret.hashValue)"
    }
}

extension RequestIdentity {
    /// Cannot be turned back, and is the same in each process; `nil` for a request that names no user. A
    /// directory of a cache is readable by its owner only, who has the responses as well.
    var digest: String? { isAnonymous ? nil : SecretDigest.of(text) }
}
