import Foundation

/// The schemes by which origins accepted credentials, so that the next request sends them preemptively. A
/// value.
///
/// Its size is limited: a forgotten entry only costs a request that is answered with 401.
struct AuthenticationMemory {
    /// The server, the trust domain and the credential.
    struct Key: Hashable {
        var servers: ServerSet
        var trustDomain: TrustDomain
        var origin: Origin
        var credential: Credential
    }

    private struct Entry {
        var scheme: AuthenticationScheme
        /// The paths below which Basic was accepted.
        var prefixes: [String] = []
        /// The Digest sessions: one for each realm, most recently used last.
        var digests: [Digest] = []
    }

    /// A nonce that a server has accepted.
    private struct Digest {
        var session: DigestSession
        /// The paths below which it was accepted.
        var prefixes: [String] = []
    }

    /// The maximum number of realms of one origin. A site with more has to challenge again.
    private static let maximumRealms = 16

    /// The maximum number of prefixes of one origin. A site with more has to challenge again.
    private static let maximumPrefixes = 16

    let capacity: Int
    private var entries: [Key: Entry] = [:]

    init(capacity: Int = 1024) {
        self.capacity = capacity
    }

    var count: Int { entries.count }

    /// Records that the server accepted the credential; Digest with the nonce of a session.
    mutating func note(
        _ key: Key,
        scheme: AuthenticationScheme,
        for url: URL,
        digest: DigestSession? = nil
    ) {
        if entries[key] == nil, entries.count >= capacity { entries.removeAll() }
        var entry = entries[key] ?? Entry(scheme: scheme)
        if entry.scheme != scheme { entry = Entry(scheme: scheme) }
        let prefix = Self.prefix(of: url)
        if let digest {
            let realm = digest.challenge.realm
            let old = entry.digests.firstIndex { $0.session.challenge.realm == realm }
            var noted = Digest(session: digest, prefixes: old.map { entry.digests[$0].prefixes } ?? [])
            Self.add(prefix, to: &noted.prefixes)
            if let old { entry.digests.remove(at: old) }
            if entry.digests.count >= Self.maximumRealms { entry.digests.removeFirst() }
            entry.digests.append(noted)
        } else {
            Self.add(prefix, to: &entry.prefixes)
        }
        entries[key] = entry
    }

    private static func add(_ prefix: String?, to prefixes: inout [String]) {
        guard let prefix, !prefixes.contains(where: prefix.hasPrefix) else { return }
        if prefixes.count >= maximumPrefixes { prefixes.removeFirst() }
        prefixes.append(prefix)
    }

    /// Records that the server rejected the credential there. It may still accept Basic elsewhere, and Digest
    /// with another nonce.
    mutating func forget(_ key: Key, for url: URL, digest: DigestSession? = nil) {
        guard var entry = entries[key] else { return }
        if entry.scheme == .digest, let digest {
            entry.digests.removeAll { $0.session.challenge.nonce == digest.challenge.nonce }
            entries[key] = entry.digests.isEmpty ? nil : entry
            return
        }
        if entry.scheme == .basic, let prefix = Self.prefix(of: url) {
            entry.prefixes.removeAll { prefix.hasPrefix($0) }
        } else {
            entry.prefixes = []
        }
        entries[key] = entry.prefixes.isEmpty ? nil : entry
    }

    /// Returns the nonce that the server probably accepts there: that of the realm with the longest matching
    /// prefix, or else the most recently used one that covers the path.
    func digest(for key: Key, to url: URL) -> DigestSession? {
        guard let entry = entries[key] else { return nil }
        let path = Self.prefix(of: url)
        var best: (session: DigestSession, length: Int)?
        for digest in entry.digests.reversed() {
            let lengths = digest.prefixes.filter { path?.hasPrefix($0) == true }.map(\.utf8.count)
            guard let length = lengths.max() ?? (digest.session.challenge.covers(url) ? 0 : nil) else {
                continue
            }
            if length > best?.length ?? -1 { best = (digest.session, length) }
        }
        return best?.session
    }

    /// Returns the scheme with which to send the credential preemptively; `nil` to wait for a challenge.
    func scheme(for key: Key, to url: URL) -> AuthenticationScheme? {
        guard let entry = entries[key] else { return nil }
        guard entry.scheme != .digest else { return digest(for: key, to: url) == nil ? nil : .digest }
        guard entry.scheme == .basic else { return entry.scheme }
        guard let prefix = Self.prefix(of: url), entry.prefixes.contains(where: prefix.hasPrefix) else {
            return nil
        }
        return .basic
    }

    /// Returns the path up to its last slash: the protection space of a server that sent a challenge there
    /// ([RFC 7617 §2.2](https://www.rfc-editor.org/rfc/rfc7617#section-2.2)).
    /// - Returns: `nil` for a path with dot segments or backslashes, which may lead elsewhere.
    static func prefix(of url: URL) -> String? {
        let path = url.path(percentEncoded: true)
        let plain = path.lowercased().replacingOccurrences(of: "%2e", with: ".")
            .replacingOccurrences(of: "%2f", with: "/").replacingOccurrences(of: "%5c", with: "\\")
        let climbs = plain.split(separator: "/").contains { $0 == ".." || $0 == "." }
        guard !climbs, !plain.contains("\\") else { return nil }
        guard let slash = path.lastIndex(of: "/") else { return "/" }
        return String(path[...slash])
    }
}
