import Foundation

/// Which scheme an origin took a credential by, so that the next request sends it at once. A value.
///
/// What it forgets costs a request that is answered with 401; so it keeps only so many.
struct AuthenticationMemory {
    /// Whose connection, where, and who.
    struct Key: Hashable {
        var trustDomain: TrustDomain
        var origin: Origin
        var credential: Credential
    }

    private struct Entry {
        var scheme: AuthenticationScheme
        /// Of Basic: below which paths it was taken.
        var prefixes: [String] = []
    }

    /// Of one origin; a site with more is asked again.
    private static let maximumPrefixes = 16

    let capacity: Int
    private var entries: [Key: Entry] = [:]

    init(capacity: Int = 1024) {
        self.capacity = capacity
    }

    var count: Int { entries.count }

    /// The server took it.
    mutating func note(_ key: Key, scheme: AuthenticationScheme, for url: URL) {
        if entries[key] == nil, entries.count >= capacity { entries.removeAll() }
        var entry = entries[key] ?? Entry(scheme: scheme)
        if entry.scheme != scheme { entry = Entry(scheme: scheme) }
        if let prefix = Self.prefix(of: url), !entry.prefixes.contains(where: prefix.hasPrefix) {
            if entry.prefixes.count >= Self.maximumPrefixes { entry.prefixes.removeFirst() }
            entry.prefixes.append(prefix)
        }
        entries[key] = entry
    }

    /// The server did not take it there. Elsewhere it may go on taking Basic.
    mutating func forget(_ key: Key, for url: URL) {
        guard var entry = entries[key] else { return }
        if entry.scheme == .basic, let prefix = Self.prefix(of: url) {
            entry.prefixes.removeAll { prefix.hasPrefix($0) }
        } else {
            entry.prefixes = []
        }
        entries[key] = entry.prefixes.isEmpty ? nil : entry
    }

    /// How to send it at once; `nil`: wait until the server asks.
    func scheme(for key: Key, to url: URL) -> AuthenticationScheme? {
        guard let entry = entries[key] else { return nil }
        guard entry.scheme == .basic else { return entry.scheme }
        guard let prefix = Self.prefix(of: url), entry.prefixes.contains(where: prefix.hasPrefix) else {
            return nil
        }
        return .basic
    }

    /// The path up to its last slash: what a server that asked there wants the password for, too
    /// ([RFC 7617 §2.2](https://www.rfc-editor.org/rfc/rfc7617#section-2.2)).
    /// - Returns: `nil` for a path that leads elsewhere than it seems to.
    static func prefix(of url: URL) -> String? {
        let path = url.path(percentEncoded: true)
        let plain = path.lowercased().replacingOccurrences(of: "%2e", with: ".")
        let climbs = plain.split(separator: "/").contains { $0 == ".." || $0 == "." }
        guard !climbs, !path.contains("\\") else { return nil }
        guard let slash = path.lastIndex(of: "/") else { return "/" }
        return String(path[...slash])
    }
}
