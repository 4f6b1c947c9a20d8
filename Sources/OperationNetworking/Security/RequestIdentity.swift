internal import Foundation
package import FoundationNetworking
internal import OperationNetworkingSystem

/// The identity that a request is sent with. Servers may respond differently to each user, so a response to
/// one identity is never used for another: not from a cache, not from a shared transfer, and not as the
/// beginning of a download.
///
/// | The request has                                   | Part of the identity                      |
/// |---------------------------------------------------|-------------------------------------------|
/// | a field of ``SecretFields/namesUser(_:besides:)`` | its name and value                        |
/// | `Authorization` of the scheme Basic, a user in its URL, a credential with a password | the user, and the password for a cache    |
/// | a token                                           | the token                                 |
/// | a client certificate                              | the certificate, without the key          |
/// | cookies of a jar                                  | the cookies, for the cache and for images |
///
/// A server checks the password before it sends anything, so a download compares only ``users``. A cache
/// responds without the server, so it compares passwords, too. Both are stored only as digests.
package struct RequestIdentity: Hashable, Sendable {
    /// The identity of a request that names no user.
    package static let none = RequestIdentity(lines: [], passwords: [])

    /// The users, sorted.
    private let lines: [String]
    /// The users' passwords, in the order of their lines.
    private let passwords: [String]

    private init(lines: [String], passwords: [String]) {
        self.lines = lines.sorted()
        self.passwords = passwords
    }

    /// The identity of a request before it is sent.
    ///
    /// - Parameters:
    ///   - request: the request with its fields, and possibly a user in its URL.
    ///   - credential: the credential for a challenge; a user in the URL takes precedence.
    ///   - token: the token of a token source.
    ///   - clientIdentity: the client certificate.
    ///   - cookies: the cookies of a jar.
    ///   - secretFields: the app's own names of fields that name a user.
    package init(
        _ request: URLRequest,
        credential: Credential? = nil,
        token: String? = nil,
        clientIdentity: ClientIdentity? = nil,
        cookies: [String] = [],
        secretFields: Set<String> = []
    ) {
        let fields = (request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }
        var (lines, passwords) = Self.parts(of: fields.map { ($0.key, $0.value) }, besides: secretFields)
        if let user = request.url?.namedUser {
            lines.append("user \(user)")
            if let password = request.url?.password { passwords.append(Self.proof(of: password)) }
        } else if let credential {
            let (line, password) = credential.identity
            lines.append(line)
            if let password { passwords.append(password) }
        }
        if let token { lines.append("token \(token)") }
        if let clientIdentity {
            lines.append("certificate " + clientIdentity.keyPair.certificates.base64EncodedString())
        }
        lines += cookies.map { "cookie \($0)" }
        self.init(lines: lines, passwords: passwords)
    }

    /// The identity of a request as it is sent: after adapters, redirects and challenges.
    ///
    /// - Parameters:
    ///   - fields: all fields that are sent.
    ///   - credential: the credential that the fields, or libcurl, send. It replaces `Authorization`, which
    ///     for Digest differs in each request.
    ///   - secretFields: the app's own names of fields that name a user.
    init(_ fields: HeaderFields, _ credential: Credential?, secretFields: Set<String>) {
        var fields = fields
        if credential != nil { fields["Authorization"] = nil }
        var (lines, passwords) = Self.parts(
            of: fields.fields.map { ($0.name, $0.value) },
            besides: secretFields
        )
        if let credential {
            let (line, password) = credential.identity
            lines.append(line)
            if let password { passwords.append(password) }
        }
        self.init(lines: lines, passwords: passwords)
    }

    private static func parts(
        of fields: [(name: String, value: String)],
        besides secretFields: Set<String>
    ) -> (lines: [String], passwords: [String]) {
        var (lines, passwords): ([String], [String]) = ([], [])
        for (name, value) in fields where SecretFields.namesUser(name, besides: secretFields) {
            if name.isEqualIgnoringASCIICase(to: "Authorization"), let (user, password) = basicUser(value) {
                lines.append("user \(user)")
                passwords.append(password)
            } else {
                lines.append("field \(name.lowercased()): \(value)")
            }
        }
        return (lines, passwords)
    }

    /// Returns a password in the form that it has in a Basic field, so that it is equal however it was given.
    fileprivate static func proof(of password: String) -> String {
        Data(password.utf8).base64EncodedString()
    }

    /// Returns the user and password of RFC 7617; `nil` if the value is something else.
    private static func basicUser(_ value: String) -> (user: String, password: String)? {
        let words = value.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "basic",
            let bytes = Data(base64Encoded: String(words[1])),
            let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        let password = bytes[bytes.index(after: colon)...]
        return (String(decoding: bytes[..<colon], as: UTF8.self), password.base64EncodedString())
    }

    /// Whether the field with this lowercase name is part of the identity. `Authorization` may be included as
    /// a user instead.
    func hasField(_ name: String) -> Bool {
        let beginning = "field \(name): "
        return lines.contains { $0.hasPrefix(beginning) }
    }

    /// Whether the request names no user.
    package var isAnonymous: Bool { lines.isEmpty }

    /// The users without passwords; empty if there are none.
    var users: String { lines.joined(separator: "\n") }

    /// The whole identity, for a digest. Each value has its length, so that none can imitate another line.
    var text: String {
        (lines + [""] + passwords).map { "\($0.utf8.count) \($0)" }.joined(separator: "\n")
    }
}

// MARK: - CustomReflectable

extension RequestIdentity: CustomReflectable {
    /// Only whether it is anonymous, so that `dump` shows no secrets.
    package var customMirror: Mirror { Mirror(self, children: ["isAnonymous": isAnonymous]) }
}

extension Credential {
    /// The user and the password.
    fileprivate var identity: (line: String, password: String?) {
        switch secret {
        case .password(let user, let password): ("user \(user)", RequestIdentity.proof(of: password))
        case .token(let token): ("token \(token)", nil)
        case .tickets: ("tickets", nil)
        }
    }
}
