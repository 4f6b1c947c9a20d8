internal import Foundation
package import FoundationNetworking
internal import OperationNetworkingSystem

/// Whom a request is sent as. A server may send one user what it does not send the next, so a response to one
/// identity never answers another: not from a cache, not by a shared transfer, not as the beginning of a
/// download.
///
/// | The request has                                            | What counts                            |
/// |------------------------------------------------------------|----------------------------------------|
/// | a field of ``SecretFields/namesUser(_:besides:)``          | its name and value                     |
/// | `Authorization` of the scheme Basic, a user in its URL, a credential with a password | the user, and the password for a cache |
/// | a token                                                    | the token                              |
/// | a client certificate                                       | the certificate, without the key       |
/// | cookies of a jar                                           | the cookies, where the caller gives them |
///
/// A server checks a password before it sends anything, so a download compares ``users`` only. A cache serves
/// without asking, so there the password counts. Neither is written down but as a digest.
package struct RequestIdentity: Hashable, Sendable {
    /// Of a request that names no user.
    package static let none = RequestIdentity(lines: [], passwords: [])

    /// Who, sorted.
    private let lines: [String]
    /// The proofs that users gave, in the order of their lines.
    private let passwords: [String]

    private init(lines: [String], passwords: [String]) {
        self.lines = lines.sorted()
        self.passwords = passwords
    }

    /// The identity of a request before it is sent.
    ///
    /// - Parameters:
    ///   - request: with its fields, and perhaps a user in its URL.
    ///   - credential: what the server gets if it asks; a user in the URL comes first.
    ///   - token: of a token source.
    ///   - clientIdentity: what the server gets in the handshake.
    ///   - cookies: of a jar.
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
            if let password = request.url?.password { passwords.append(password) }
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
    ///   - fields: all that go out.
    ///   - credential: the one that they, or libcurl, prove. The `Authorization` does not count beside it: a
    ///     proof by Digest is another one in each request, and what it proves is the same.
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
            if let (user, password) = basicUser(value) {
                lines.append("user \(user)")
                passwords.append(password)
            } else {
                lines.append("field \(name.lowercased()): \(value)")
            }
        }
        return (lines, passwords)
    }

    /// The user and the password of RFC 7617; `nil`: the value is something else.
    private static func basicUser(_ value: String) -> (user: String, password: String)? {
        let words = value.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "basic",
            let bytes = Data(base64Encoded: String(words[1])),
            let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        let password = bytes[bytes.index(after: colon)...]
        return (String(decoding: bytes[..<colon], as: UTF8.self), password.base64EncodedString())
    }

    /// Whether the request names no user.
    package var isAnonymous: Bool { lines.isEmpty }

    /// The users, without passwords; empty if there are none.
    var users: String { lines.joined(separator: "\n") }

    /// All of it, for a digest. No value looks like another line: each has its length.
    var text: String {
        (lines + [""] + passwords).map { "\($0.utf8.count) \($0)" }.joined(separator: "\n")
    }
}

// MARK: - CustomReflectable

extension RequestIdentity: CustomReflectable {
    /// Whether it names a user: `dump` would show secrets.
    package var customMirror: Mirror { Mirror(self, children: ["isAnonymous": isAnonymous]) }
}

extension Credential {
    /// Who, and the proof.
    fileprivate var identity: (line: String, password: String?) {
        switch secret {
        case .password(let user, let password): ("user \(user)", password)
        case .token(let token): ("token \(token)", nil)
        case .tickets: ("tickets", nil)
        }
    }
}
