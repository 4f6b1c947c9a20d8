internal import Foundation
package import FoundationNetworking
internal import OperationNetworkingSystem

/// As whom a request asks: what a server may send one user, it may not send the next.
///
/// | What the request has                                  | What counts                                          |
/// |-------------------------------------------------------|------------------------------------------------------|
/// | a field that is, or looks like, a secret              | its name and value                                   |
/// | `Authorization` of the scheme Basic                   | the user, without the password                       |
/// | a user in its URL                                     | the user, without the password                       |
/// | none there, and a credential                          | the user, without the password; the token            |
/// | a client's certificate                                | the certificate, without the key                     |
///
/// Cookies of a jar, and what only an answer asked for, do not count. A password says that the user is he,
/// and nothing of what he gets. Never written down, only as a ``SaltedDigest``.
package struct Asker: Sendable {
    /// Empty: no user is named.
    let text: String

    package init(
        _ request: URLRequest,
        credential: Credential? = nil,
        identity: ClientIdentity? = nil
    ) {
        var lines = (request.allHTTPHeaderFields ?? [:])
            .filter { SecretFields.isSecret($0.key) }
            .map { name, value in
                Self.user(ofBasic: value).map { "user \($0)" } ?? "field \(name.lowercased()): \(value)"
            }
            .sorted()
        if let user = request.url?.namedUser {
            lines.append("user \(user)")
        } else {
            switch credential?.secret {
            case .password(let user, _): lines.append("user \(user)")
            case .token(let token): lines.append("token \(token)")
            case .tickets: lines.append("tickets")
            case nil: break
            }
        }
        if let identity {
            lines.append("certificate " + identity.keyPair.certificates.base64EncodedString())
        }
        text = lines.joined(separator: "\n")
    }

    /// The user of RFC 7617; `nil`: the value is something else.
    private static func user(ofBasic value: String) -> String? {
        let words = value.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "basic",
            let bytes = Data(base64Encoded: String(words[1])),
            let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        return String(decoding: bytes[..<colon], as: UTF8.self)
    }

    /// The digest that a later process compares with its own; `nil`: no user is named.
    var digest: SaltedDigest? { text.isEmpty ? nil : try? SaltedDigest(of: text) }

    /// Whether it is the one whose ``digest`` this is.
    func isAsker(of digest: SaltedDigest?) -> Bool {
        guard let digest else { return text.isEmpty }
        return (try? digest.isDigest(of: text)) ?? false
    }
}
