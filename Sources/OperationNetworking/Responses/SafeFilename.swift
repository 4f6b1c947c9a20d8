package import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

extension HTTPURLResponse {
    /// A name for a file with the body: the one that the server suggests, otherwise the decoded last
    /// component of the URL's path, otherwise `index.html`.
    ///
    /// A server suggests a name in `Content-Disposition` ([RFC
    /// 6266](https://www.rfc-editor.org/rfc/rfc6266)): in `filename*`, which is UTF-8 or ISO-8859-1 ([RFC
    /// 8187](https://www.rfc-editor.org/rfc/rfc8187)), or in `filename`, where quoted pairs are resolved and
    /// UTF-8 is accepted.
    ///
    /// | Field value                                                            | The name      |
    /// |------------------------------------------------------------------------|---------------|
    /// | `attachment; filename="plan.pdf"`                                      | `plan.pdf`    |
    /// | `attachment; filename="fallback.pdf"; filename*=UTF-8''%E6%8A%A5.pdf`   | `报.pdf`      |
    /// | `attachment; filename="a\"b.pdf"`                                      | `a"b.pdf`     |
    /// | `attachment; filename="../../etc/passwd"`                              | `passwd`      |
    /// | none, of `https://example.com/a/b%20c.iso?x=1`                         | `b c.iso`     |
    ///
    /// The name is never a path: everything up to the last slash or backslash in the server's name is
    /// removed, `.` and `..` are ignored, and control characters, line separators and bidirectional controls
    /// become `_`. It has at most 255 bytes of UTF-8; a longer one is shortened in the middle, so that the
    /// extension stays. A name used for partial files (`.part`, `.part.resume`, `.part.resume.new`) is
    /// extended with `_`. The server still chooses the name, so check that no file of that name exists.
    public var safeFilename: String {
        SafeFilename.name(disposition: value(forHTTPHeaderField: "Content-Disposition") ?? "", url: url)
    }
}

/// A file name, without a directory, made from text that may be hostile. It is never empty, `.` or `..`,
/// contains neither a separator nor a character that changes the layout, and is short enough for Linux's file
/// systems.
package struct SafeFilename: Hashable, Sendable {
    /// In bytes of UTF-8.
    package static let maximumLength = 255
    /// The name for a URL whose path ends with a slash.
    package static let index = "index.html"

    package let text: String

    /// Fails for an empty text, `.` and `..`.
    private init?(_ raw: String) {
        guard !raw.isEmpty, raw != ".", raw != ".." else { return nil }
        let name = String(
            String.UnicodeScalarView(
                raw.unicodeScalars.map { $0 == "/" || $0.changesLayout ? "_" : $0 }
            )
        )
        text = Self.shortened(name, toBytes: Self.maximumLength)
    }

    /// The name, extended with `_` if a partial file could have it.
    private var unreserved: String {
        FileName.isReserved(text) ? Self.shortened(text, toBytes: Self.maximumLength - 1) + "_" : text
    }

    /// Returns the name for a file with the body of a response.
    fileprivate static func name(disposition: String, url: URL?) -> String {
        SafeFilename(disposition: disposition)?.text
            ?? url.flatMap { SafeFilename(lastPartOf: $0)?.unreserved } ?? index
    }

    // MARK: - URLs

    /// The decoded last component of the URL's path; ``index`` if that is empty.
    ///
    /// | URL                          | Name            |
    /// |------------------------------|-----------------|
    /// | `http://h/a/b.iso?x=1`       | `b.iso`         |
    /// | `http://h/a/`, `http://h`    | `index.html`    |
    /// | `http://h/a%20b`             | `a b`           |
    /// | `http://h/..%2Fetc%2Fpasswd` | `.._etc_passwd` |
    ///
    /// Fails for `.` and `..`.
    package init?(lastPartOf url: URL) {
        let path = URLComponents(url: url, resolvingAgainstBaseURL: true)?.percentEncodedPath ?? ""
        let encoded = FileName.last(of: path)
        // Octets that are not UTF-8 stay encoded.
        let decoded = encoded.removingPercentEncoding ?? encoded
        self.init(decoded.isEmpty ? Self.index : decoded)
    }

    // MARK: - Content-Disposition

    /// The name in the value of a `Content-Disposition` field. Fails if it has no usable one.
    init?(disposition: String) {
        // Some servers omit the type, so the first part may be a parameter.
        let parameters = MediaType.split(disposition[...], at: UInt8(ascii: ";")).compactMap(Self.parameter)
        let extended = parameters.lazy.filter { $0.name == "filename*" }.compactMap { Self.decoded($0.value) }
        let plain = parameters.lazy.filter { $0.name == "filename" }.map { MediaType.unquote($0.value) }
        let names = [extended.first, plain.first].compactMap { $0 }
        guard let name = names.lazy.compactMap(Self.init(serverName:)).first else { return nil }
        self = name
    }

    /// The last component of the server's name, which may be a path (RFC 6266 §4.3).
    private init?(serverName: String) {
        let scalars = serverName.unicodeScalars
        let separator = scalars.lastIndex { $0 == "/" || $0 == "\\" }
        let last = scalars[(separator.map(scalars.index(after:)) ?? scalars.startIndex)...]
        let name = String(last).trimmingCharacters(in: .whitespacesAndNewlines)
        guard let clean = SafeFilename(name) else { return nil }
        text = clean.unreserved
    }

    private static func parameter(_ part: Substring) -> (name: String, value: Substring)? {
        guard let equals = part.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let value = part.utf8[part.utf8.index(after: equals)...].trimmingHTTPWhitespace()
        return (Substring(part.utf8[..<equals].trimmingHTTPWhitespace()).lowercased(), Substring(value))
    }

    /// The text of an `ext-value`: a character set, a language, and percent-encoded octets (RFC 8187 §3.2.1).
    /// `nil` if it is malformed, in which case the plain name is used.
    private static func decoded(_ value: Substring) -> String? {
        let parts = MediaType.unquote(value).split(
            separator: "'",
            maxSplits: 2,
            omittingEmptySubsequences: false
        )
        guard parts.count == 3, let octets = octets(of: parts[2]) else { return nil }
        switch parts[0].lowercased() {
        case "utf-8": return String(validating: octets, as: UTF8.self)
        case "iso-8859-1": return String(String.UnicodeScalarView(octets.map { Unicode.Scalar($0) }))
        default: return nil
        }
    }

    /// The octets of a percent-encoded text; `nil` if it is malformed.
    private static func octets(of text: Substring) -> [UInt8]? {
        var octets: [UInt8] = []
        var rest = text.utf8
        while let octet = rest.popFirst() {
            guard octet == UInt8(ascii: "%") else {
                octets.append(octet)
                continue
            }
            let digits = Substring(rest.prefix(2))
            guard digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit),
                let value = UInt8(digits, radix: 16)
            else { return nil }
            octets.append(value)
            rest = rest.dropFirst(2)
        }
        return octets
    }

    // MARK: - Length

    /// Shortens a name in the middle to at most `limit` bytes of UTF-8, between characters. A short extension
    /// is kept.
    package static func shortened(_ name: String, toBytes limit: Int) -> String {
        guard name.utf8.count > limit else { return name }
        let ending = nameExtension(name)
        var stem = name.dropLast(ending.count)
        // Counted once, because counting in each step would take quadratic time.
        var length = stem.utf8.count
        while length + ending.utf8.count > limit, let last = stem.popLast() { length -= last.utf8.count }
        guard !stem.isEmpty else {
            // The name begins with a character that has more bytes than `limit`.
            return String(String.UnicodeScalarView(name.unicodeScalars.prefix(limit / 4)))
        }
        return stem + ending
    }

    /// `.iso`, `.tar.gz`, or an empty text.
    private static func nameExtension(_ name: String) -> String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex, name[dot...].utf8.count <= 32 else {
            return ""
        }
        let stem = name[..<dot]
        return stem.hasSuffix(".tar") && stem.count > 4 ? ".tar" + name[dot...] : String(name[dot...])
    }
}
