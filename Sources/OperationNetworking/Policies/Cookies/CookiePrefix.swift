/// Checks the prefixes of cookie names, and collects the names whose requirements a response violated ([RFC
/// 6265bis §4.1.3](https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis#section-4.1.3)).
///
/// | The name begins with | The line must have                              |
/// |----------------------|-------------------------------------------------|
/// | `__Secure-`          | `Secure`                                        |
/// | `__Host-`            | `Secure`, a `Path` that is `/`, and no `Domain` |
///
/// Case-insensitive. libcurl checks this as well, but ignores a `Domain` that is an IP address.
struct CookiePrefix: Sendable {
    /// The names whose last line violated the requirements of their prefix.
    private(set) var brokenNames: Set<String> = []

    /// Reads the value of the next `Set-Cookie` field.
    mutating func read(_ line: String) {
        // Nearly all names have no prefix.
        guard line.utf8.contains(UInt8(ascii: "_")) else { return }
        let (name, isValid) = Self.judge(line)
        if isValid { brokenNames.remove(name) } else { brokenNames.insert(name) }
    }

    /// The name of the cookie that a `Set-Cookie` field's value sets or deletes.
    static func name(of line: String) -> String { String(pair(line.prefix { $0 != ";" }).name) }

    /// Whether a `Set-Cookie` field's value meets the requirements of its cookie's prefix.
    static func isValid(_ line: String) -> Bool { judge(line).isValid }

    /// The attributes of a `Set-Cookie` field's value, without the cookie's name and value.
    static func attributes(of line: String) -> [(name: Substring, value: Substring)] {
        line.split(separator: ";", omittingEmptySubsequences: false).dropFirst().map(pair)
    }

    private static func judge(_ line: String) -> (name: String, isValid: Bool) {
        let name = name(of: line)
        let isHost = name.hasPrefixIgnoringASCIICase("__Host-")
        guard isHost || name.hasPrefixIgnoringASCIICase("__Secure-") else { return (name, true) }
        var (isSecure, path, hasDomain) = (false, Substring?.none, false)
        for attribute in attributes(of: line) {
            switch attribute.name.lowercased() {
            case "secure": isSecure = true
            case "path": path = attribute.value
            case "domain": hasDomain = true
            default: break
            }
        }
        return (name, isSecure && (!isHost || path == "/" && !hasDomain))
    }

    /// Splits at the first equals sign into a name and a value, both trimmed.
    private static func pair(_ text: Substring) -> (name: Substring, value: Substring) {
        let equals = text.firstIndex(of: "=") ?? text.endIndex
        return (trimmed(text[..<equals]), trimmed(text[equals...].dropFirst()))
    }

    private static func trimmed(_ text: Substring) -> Substring {
        Substring(text.utf8.trimmingHTTPWhitespace())
    }
}

extension String {
    fileprivate func hasPrefixIgnoringASCIICase(_ prefix: String) -> Bool {
        utf8.prefix(prefix.utf8.count).elementsEqual(prefix.utf8) { $0.lowercasedASCII == $1.lowercasedASCII }
    }
}
