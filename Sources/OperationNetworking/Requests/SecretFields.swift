internal import Foundation
internal import FoundationNetworking
internal import OperationNetworkingSystem

/// The header fields that contain secrets: the fields that identify the user, that redirects and managers'
/// serializers do not send to another origin, and whose values logs, checkpoints and journals do not show.
///
/// | Question                      | Decided by | Reason                                             |
/// |-------------------------------|------------|----------------------------------------------------|
/// | Does it identify the user?    | ``names``, words within names, and the app's own list: ``namesUser(_:besides:)`` | a missed name gives one user's response to another |
/// | Is it sent to another origin? | whole ``names``: `RedirectPolicy.defaultDroppedHeaders` | a field that is removed needlessly is an error there |
/// | Is it shown in logs?          | ``names`` and words within names: ``isSecret(_:)`` | a value that is hidden needlessly is rarely missed |
package enum SecretFields {
    /// The fields of RFC 9110 and RFC 6265 that identify the user. No setting sends them to another origin.
    static let credentials: Set<String> = ["Authorization", "Cookie", "Proxy-Authorization"]

    /// Non-standard fields in which services expect keys and tokens. Case-insensitive.
    ///
    /// Does not include proofs of a single message, such as signatures, or `Idempotency-Key`. The name of a
    /// signature still identifies the user: see ``words``.
    static let names: Set<String> = Set(
        [
            // Used by many services.
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
            // Tokens against cross-site request forgery.
            "CSRF-Token", "X-CSRF-Token", "X-CSRFToken", "X-XSRF-Token", "XSRF-Token",
            // Cloud providers.
            "Ocp-Apim-Subscription-Key", "X-Amz-Security-Token", "X-Aws-Ec2-Metadata-Token",
            "X-Functions-Key", "X-Goog-Api-Key", "X-Goog-Iam-Authorization-Token", "X-Service-Account-Token",
            "X-Storage-Token", "X-Subject-Token",
            // Customer-provided encryption keys of storage services.
            "X-Amz-Copy-Source-Server-Side-Encryption-Customer-Key",
            "X-Amz-Server-Side-Encryption-Customer-Key", "X-Goog-Encryption-Key", "X-Ms-Encryption-Key",
            // Used by single services.
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

    /// Parts of names that indicate a secret in any position.
    private static let parts = [
        "auth", "cookie", "credential", "key", "password", "secret", "session", "signature", "token",
    ]

    /// Whole words of names that indicate a secret, as in `X-JWT` and `db_pass`. Includes proofs of a single
    /// message (`hmac`, `otp`, `sig`): the response to a signed request is not shared, because the key may be
    /// a user's.
    private static let words: Set<Substring> = [
        "assertion", "hmac", "jwt", "otp", "pass", "passphrase", "passwd", "pwd", "sig",
    ]

    /// Fields that identify a single message, for tracing or deduplication. They differ in each request, do
    /// not identify a user, and do not affect the response. In lower case.
    private static let marks: Set<String> = [
        "traceparent", "tracestate", "b3", "uber-trace-id", "sentry-trace", "request-id", "correlation-id",
        "x-request-id", "x-correlation-id", "x-trace-id", "x-span-id", "x-client-request-id",
        "x-ms-client-request-id", "x-amzn-trace-id", "x-cloud-trace-context", "baggage", "newrelic",
    ]

    /// The prefixes of further such names, in lower case.
    private static let beginningsOfMarks = ["x-b3-", "x-datadog-"]

    /// Whether a field only identifies the message, so that requests that differ only in it can share a
    /// response.
    package static func marksMessage(_ name: String) -> Bool {
        let name = name.lowercased()
        return marks.contains(name) || name.contains("idempoten")
            || beginningsOfMarks.contains { name.hasPrefix($0) }
    }

    /// A cache of results of ``namesUser(_:besides:)``: searching a name for words is slower than a lookup.
    private static let known = Locked<[String: Bool]>([:])
    private static let maximumKnown = 1_000

    /// Whether the field is part of the ``RequestIdentity``. `others` are the app's own names,
    /// `RedirectPolicy.droppedHeaders`. Case-insensitive.
    static func namesUser(_ name: String, besides others: Set<String> = []) -> Bool {
        isUserField(name) || isOwnUserField(name, of: others)
    }

    /// Whether the field identifies a user only because of the app's own list.
    static func isOwnUserField(_ name: String, of others: Set<String>) -> Bool {
        others.contains { $0.isEqualIgnoringASCIICase(to: name) } && !isUserField(name) && !marksMessage(name)
    }

    private static func isUserField(_ name: String) -> Bool {
        if let answer = known.withLock({ $0[name] }) { return answer }
        // A proxy's credentials are not for the server.
        let answer =
            isSecret(name) && !marksMessage(name)
            && !name.isEqualIgnoringASCIICase(to: "Proxy-Authorization")
        known.withLock { known in
            if known.count >= maximumKnown { known = [:] }
            known[name] = answer
        }
        return answer
    }

    /// Whether the value of a field, parameter or member must not appear in a log or a stored file. Decided
    /// by its name, in any case, for lack of a better criterion: credentials are sent under many names.
    static func isSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        return parts.contains { name.contains($0) } || lowercasedNames.contains(name)
            || name.split { !$0.isLetter && !$0.isNumber }.contains { words.contains($0) }
    }
}

extension URLRequest {
    /// Removes fields in every spelling and number: `setValue(nil, ...)` of Foundation on Linux removes only
    /// one spelling.
    ///
    /// - Parameters:
    ///   - names: the names, in any case.
    ///   - kept: exceptions that are kept, in any case.
    mutating func removeFields(_ names: some Sequence<String>, keeping kept: some Sequence<String> = []) {
        guard let fields = allHTTPHeaderFields, !fields.isEmpty else { return }
        let names = Set(names.map { $0.lowercased() }).subtracting(kept.map { $0.lowercased() })
        allHTTPHeaderFields = fields.filter { !names.contains($0.key.lowercased()) }
    }
}
