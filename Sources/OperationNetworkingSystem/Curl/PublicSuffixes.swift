import COperationNetworking

/// The public suffix list of libpsl, which libcurl uses for cookies. If libcurl was built without it, there
/// are no public suffixes.
package enum PublicSuffixes {
    /// Whether the list is available.
    package static var areKnown: Bool { csuffixes_are_known() != 0 }

    /// Whether the domain, in lower case and ASCII, is a public suffix. A name without a dot that is not in
    /// the list counts as one. The first call may block on disk access.
    package static func contain(_ domain: String) -> Bool {
        // libpsl does not support a trailing dot.
        csuffixes_contain(domain.hasSuffix(".") ? String(domain.dropLast()) : domain) != 0
    }
}
