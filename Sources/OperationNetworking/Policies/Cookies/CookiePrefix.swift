/// The promise of a cookie name's prefix, and the names for which a response has broken it ([RFC 6265bis
/// §4.1.3](https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis#section-4.1.3)): a value.
///
/// | The name begins with | The line has                                      |
/// |----------------------|---------------------------------------------------|
/// | `__Secure-`          | `Secure`                                          |
/// | `__Host-`            | `Secure`, a `Path` that is `/`, and no `Domain`   |
///
/// In any case. libcurl judges as well, and does not see a `Domain` that names an address.
struct CookiePrefix: Sendable {
    /// The cookies whose last line broke the promise of their names.
    private(set) var brokenNames: Set<String> = []

    /// Takes the value of the next `Set-Cookie` field.
    mutating func read(_ line: String) {
        // Nearly all of them.
        guard line.utf8.contains(UInt8(ascii: "_")) else { return }
        let (name, keepsPromise) = Self.judge(line)
        if keepsPromise { brokenNames.remove(name) } else { brokenNames.insert(name) }
    }

    /// The name of the cookie that a `Set-Cookie` field's value sets or deletes.
    static func name(of line: String) -> String { String(pair(line.prefix { $0 != ";" }).name) }

    /// Whether a `Set-Cookie` field's value has what the name of its cookie promises.
    static func keepsPromise(_ line: String) -> Bool { judge(line).keepsPromise }

    /// The attributes of a `Set-Cookie` field's value, behind the cookie itself.
    static func attributes(of line: String) -> [(name: Substring, value: Substring)] {
        line.split(separator: ";", omittingEmptySubsequences: false).dropFirst().map(pair)
    }

    private static func judge(_ line: String) -> (name: String, keepsPromise: Bool) {
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

    /// A name and, behind the first equals sign, a value, without the white space around them.
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
