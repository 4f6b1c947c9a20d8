internal import Foundation
internal import FoundationNetworking
internal import OperationNetworkingSystem

/// The header fields that hold secrets: the one list of fields that no redirect and no manager's serializer
/// gives to another origin, and whose values no log, checkpoint or journal shows.
///
/// | Asked                        | Decides by                                                 | Because                 |
/// |------------------------------|------------------------------------------------------------|-------------------------|
/// | does it say who asks?        | ``names``, words that a name holds, and the app's own list: ``namesUser(_:besides:)`` | what is missing gives one user's response to another |
/// | may another origin see it?   | ``names``, as a whole: `RedirectPolicy.defaultDroppedHeaders` | what is missing is an error there |
/// | may a reader of the log?     | ``names``, and words that a name holds: ``isSecret(_:)``   | what is missing there is missed by few |
package enum SecretFields {
    /// Fields that name the user, of RFC 9110 and RFC 6265: no setting sends them to another origin.
    static let credentials: Set<String> = ["Authorization", "Cookie", "Proxy-Authorization"]

    /// Fields in which services take keys and tokens, beside those of the standards. They compare without
    /// regard to case.
    ///
    /// A proof of one message, such as a signature, is not among them, nor is what makes a repetition
    /// harmless (`Idempotency-Key`).
    static let names: Set<String> = Set(
        [
            // Names that many services share.
            "Access-Key", "Access-Token", "Api-Key", "Api-Secret", "Api-Token", "ApiKey", "App-Key",
            "Auth-Key",
            "Auth-Token", "Authentication", "Client-Secret", "Cookie2", "Secret-Key", "Session-Token",
            "Token",
            "X-Access-Key", "X-Access-Token", "X-Api-Key", "X-Api-Secret", "X-Api-Token", "X-ApiKey",
            "X-App-Key", "X-App-Secret", "X-App-Token", "X-Auth", "X-Auth-Key", "X-Auth-Token",
            "X-Authentication", "X-Authorization", "X-Client-Secret", "X-Id-Token", "X-JWT",
            "X-Jwt-Assertion",
            "X-Refresh-Token", "X-Secret", "X-Secret-Key", "X-Security-Token", "X-Service-Token",
            "X-Session-Id", "X-Session-Key", "X-Session-Token", "X-Subscription-Token", "X-Token",
            "X-User-Token",
            // Tokens against forged requests.
            "CSRF-Token", "X-CSRF-Token", "X-CSRFToken", "X-XSRF-Token", "XSRF-Token",
            // Clouds.
            "Ocp-Apim-Subscription-Key", "X-Amz-Security-Token", "X-Aws-Ec2-Metadata-Token",
            "X-Functions-Key", "X-Goog-Api-Key", "X-Goog-Iam-Authorization-Token", "X-Service-Account-Token",
            "X-Storage-Token", "X-Subject-Token",
            // Keys with which a storage encrypts what its client gave it.
            "X-Amz-Copy-Source-Server-Side-Encryption-Customer-Key",
            "X-Amz-Server-Side-Encryption-Customer-Key", "X-Goog-Encryption-Key", "X-Ms-Encryption-Key",
            // Single services.
            "Circle-Token", "DD-API-KEY", "DD-APPLICATION-KEY", "Deploy-Token", "Job-Token", "Private-Token",
            "X-Algolia-API-Key", "X-CMC_PRO_API_KEY", "X-Consul-Token", "X-Figma-Token", "X-Gitlab-Token",
            "X-Hasura-Admin-Secret", "X-Honeycomb-Team", "X-Insert-Key", "X-JFrog-Art-Api", "X-License-Key",
            "X-MBX-APIKEY", "X-Nomad-Token", "X-Parse-Master-Key", "X-Parse-REST-API-Key",
            "X-Parse-Session-Token", "X-Plex-Token", "X-Postmark-Account-Token", "X-Postmark-Server-Token",
            "X-Query-Key", "X-RapidAPI-Key", "X-Redmine-API-Key", "X-Shopify-Access-Token",
            "X-Shopify-Storefront-Access-Token", "X-TrackerToken", "X-Vault-Token",
        ]
    )

    private static let lowercasedNames = Set(names.map { $0.lowercased() })

    /// Parts of names that mean a secret wherever they stand.
    private static let parts = [
        "auth", "cookie", "credential", "key", "password", "secret", "session", "signature", "token",
    ]

    /// Whole words of names that mean a secret, as in `X-JWT` and `db_pass`.
    private static let words: Set<Substring> = [
        "assertion", "hmac", "jwt", "otp", "pass", "passphrase", "passwd", "pwd", "sig",
    ]

    /// Fields that mark one message, for logs and against repetitions: they are others in each request, name
    /// no user and select nothing. In lower case.
    private static let marks: Set<String> = [
        "traceparent", "tracestate", "b3", "uber-trace-id", "sentry-trace", "request-id", "correlation-id",
        "x-request-id", "x-correlation-id", "x-trace-id", "x-span-id", "x-client-request-id",
        "x-ms-client-request-id", "x-amzn-trace-id", "x-cloud-trace-context", "x-datadog-trace-id",
        "x-datadog-parent-id", "x-datadog-sampling-priority",
    ]

    /// Whether a field marks one message: of two requests that differ by it alone, one response is as good as
    /// the other's.
    package static func marksMessage(_ name: String) -> Bool {
        let name = name.lowercased()
        return marks.contains(name) || name.hasPrefix("x-b3-") || name.contains("idempoten")
    }

    /// The answers of ``namesUser(_:besides:)`` for names that were asked about: searching them for words
    /// takes longer than a look-up in a cache.
    private static let known = Locked<[String: Bool]>([:])
    private static let maximumKnown = 1_000

    /// Whether the field says whom a request is sent as (``RequestIdentity``). `others` are the app's own
    /// names, `RedirectPolicy.droppedHeaders`; all names in any case.
    static func namesUser(_ name: String, besides others: Set<String> = []) -> Bool {
        if isUserField(name) { return true }
        return others.contains { $0.isEqualIgnoringASCIICase(to: name) } && !marksMessage(name)
    }

    private static func isUserField(_ name: String) -> Bool {
        if let answer = known.withLock({ $0[name] }) { return answer }
        // A proxy's is for no server.
        let answer =
            isSecret(name) && !marksMessage(name)
            && !name.isEqualIgnoringASCIICase(to: "Proxy-Authorization")
        known.withLock { known in
            if known.count >= maximumKnown { known = [:] }
            known[name] = answer
        }
        return answer
    }

    /// Whether a reader of a log, or of a file that is left behind, must not see the value of a field, a
    /// parameter or a member: by its name, in any case, for want of anything better. Credentials travel under
    /// many names.
    static func isSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        return parts.contains { name.contains($0) } || lowercasedNames.contains(name)
            || name.split { !$0.isLetter && !$0.isNumber }.contains { words.contains($0) }
    }
}

extension URLRequest {
    /// Takes fields out, however they are spelled and however often they are there: `setValue(nil, ...)` of
    /// Foundation on Linux removes one spelling only.
    ///
    /// - Parameters:
    ///   - names: in any case.
    ///   - kept: of those, the ones that stay; in any case.
    mutating func removeFields(_ names: some Sequence<String>, keeping kept: some Sequence<String> = []) {
        guard let fields = allHTTPHeaderFields, !fields.isEmpty else { return }
        let names = Set(names.map { $0.lowercased() }).subtracting(kept.map { $0.lowercased() })
        allHTTPHeaderFields = fields.filter { !names.contains($0.key.lowercased()) }
    }
}
