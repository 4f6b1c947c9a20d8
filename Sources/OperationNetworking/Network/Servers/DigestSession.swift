internal import Foundation
internal import OperationNetworkingSystem

/// A server's nonce, and the number of requests that have had it: each request takes the next number, from
/// any thread ([RFC 7616 §3.4](https://www.rfc-editor.org/rfc/rfc7616#section-3.4)).
///
/// The first request costs two, each later one costs one, and a stale nonce one more. libcurl forgets the
/// nonce between transfers. All operations with the same trust domain, origin and credential share a session.
final class DigestSession: Sendable {
    let challenge: DigestChallenge
    /// The same for all requests: the algorithms with `-sess` make it part of the session.
    private let clientNonce: String
    private let count = Locked(0)

    init(_ challenge: DigestChallenge, clientNonce: String = DigestSession.makeNonce()) {
        self.challenge = challenge
        self.clientNonce = clientNonce
    }

    /// Returns the `Authorization` field of the next request. The target is the path and the query; the body
    /// is `nil` if it comes from a stream.
    ///
    /// - Throws: `MessageDigest.Failure` if OpenSSL does not support the digest.
    func nextAuthorization(
        _ credential: (user: String, password: String),
        method: String,
        target: String,
        body: Data?
    ) throws -> String {
        let request = DigestChallenge.Request(
            method: method,
            target: target,
            body: body,
            count: count.withLock { count in
                count += 1
                return count
            },
            clientNonce: clientNonce
        )
        return try challenge.authorization(
            user: credential.user,
            password: credential.password,
            for: request
        )
    }

    /// Returns the session for the next request, after a response with this `Authentication-Info`: with a new
    /// nonce, if it contains one ([RFC 7616 §3.5](https://www.rfc-editor.org/rfc/rfc7616#section-3.5)).
    func following(_ information: String?) -> DigestSession {
        // It has the syntax of a challenge's parameters.
        guard let information,
            let said = AuthenticationOffer.offers(in: ["Digest " + information]).first?.parameters,
            let nonce = said["nextnonce"], nonce != challenge.nonce, nonce.isHTTPFieldValue,
            // A nonce that is not ASCII may be UTF-8 although the challenge is not.
            !challenge.isLatin1 || nonce.utf8.allSatisfy({ $0 < 0x80 })
        else { return self }
        var next = challenge
        next.nonce = nonce
        return DigestSession(next)
    }

    /// 128 random bits.
    static func makeNonce() -> String {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
        return Data(bytes).base64EncodedString()
    }
}

extension DigestChallenge {
    /// Whether the server has announced that it accepts the proof there. `url` has the origin of the
    /// challenge.
    func covers(_ url: URL) -> Bool {
        guard !spaces.isEmpty else { return true }
        guard AuthenticationMemory.prefix(of: url) != nil else { return false }
        let path = url.path(percentEncoded: true)
        let origin = Origin(url)
        return spaces.contains { space in
            (path.isEmpty ? "/" : path).hasPrefix(space.path)
                && space.server.map { Origin($0) == origin } ?? true
        }
    }
}
