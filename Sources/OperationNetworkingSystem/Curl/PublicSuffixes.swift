import COperationNetworking

/// The list of public suffixes by which libcurl judges cookies: that of libpsl. Where libcurl was built
/// without it, no domain is one.
package enum PublicSuffixes {
    /// Whether there is a list.
    package static var areKnown: Bool { csuffixes_are_known() != 0 }

    /// Whether the domain, in lower case and ASCII, is a public suffix; so is a name without a dot that the
    /// list does not have. The first call may wait for a disk.
    package static func contain(_ domain: String) -> Bool {
        // libpsl does not know a name with its root's dot.
        csuffixes_contain(domain.hasSuffix(".") ? String(domain.dropLast()) : domain) != 0
    }
}
