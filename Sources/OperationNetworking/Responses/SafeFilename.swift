package import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

extension HTTPURLResponse {
    /// The name for a file with the body: the one that the server suggests, or else the last part of the URL's
    /// path, decoded, or `index.html`.
    ///
    /// A server suggests a name in `Content-Disposition` ([RFC 6266](https://www.rfc-editor.org/rfc/rfc6266)):
    /// `filename*` in UTF-8 or ISO-8859-1 ([RFC 8187](https://www.rfc-editor.org/rfc/rfc8187)), or else
    /// `filename`, with quoted pairs and UTF-8 as they are.
    ///
    /// | Field value                                                            | The name      |
    /// |------------------------------------------------------------------------|---------------|
    /// | `attachment; filename="plan.pdf"`                                      | `plan.pdf`    |
    /// | `attachment; filename="fallback.pdf"; filename*=UTF-8''%E6%8A%A5.pdf`   | `报.pdf`      |
    /// | `attachment; filename="a\"b.pdf"`                                      | `a"b.pdf`     |
    /// | `attachment; filename="../../etc/passwd"`                              | `passwd`      |
    /// | none, of `https://example.com/a/b%20c.iso?x=1`                         | `b c.iso`     |
    ///
    /// It is one name, never a path: what stands before a slash or a backslash in the server's name is left
    /// out, `.` and `..` are not taken, and control characters, line separators and bidirectional controls
    /// become `_`. It has at most 255 bytes of UTF-8; of a longer one the middle is left out, and the extension
    /// stays. A name that partial files have (`.part`, `.part.resume`, `.part.resume.new`) gets a `_` at its
    /// end. The server still chooses it: check that no file of that name is there.
    public var safeFilename: String {
        SafeFilename(disposition: value(forHTTPHeaderField: "Content-Disposition") ?? "")?.text
            ?? url.flatMap { SafeFilename(lastPartOf: $0)?.text } ?? SafeFilename.index
    }
}

/// A name of one file, without a directory, that was made of a text from elsewhere: never empty, `.` or `..`,
/// with neither a separator nor a character that changes the layout, and not too long for Linux's file systems.
package struct SafeFilename: Hashable, Sendable {
    /// In bytes of UTF-8.
    package static let maximumLength = 255
    /// The name for a URL whose path ends with a slash.
    package static let index = "index.html"

    package let text: String

    /// `nil` for what is no name: an empty text, `.` or `..`.
    private init?(_ raw: String) {
        guard !raw.isEmpty, raw != ".", raw != ".." else { return nil }
        let name = String(
            String.UnicodeScalarView(
                raw.unicodeScalars.map { $0 == "/" || $0.changesLayout ? "_" : $0 }
            )
        )
        text = Self.shortened(name, toBytes: Self.maximumLength)
    }

    // MARK: - URLs

    /// The last part of the URL's path, decoded; ``index`` if that is empty.
    ///
    /// | URL                          | Name            |
    /// |------------------------------|-----------------|
    /// | `http://h/a/b.iso?x=1`       | `b.iso`         |
    /// | `http://h/a/`, `http://h`    | `index.html`    |
    /// | `http://h/a%20b`             | `a b`           |
    /// | `http://h/..%2Fetc%2Fpasswd` | `.._etc_passwd` |
    ///
    /// - Returns: `nil` when it is `.` or `..`.
    package init?(lastPartOf url: URL) {
        let path = URLComponents(url: url, resolvingAgainstBaseURL: true)?.percentEncodedPath ?? ""
        let encoded = FileName.last(of: path)
        // Bytes that are not UTF-8 stay encoded.
        let decoded = encoded.removingPercentEncoding ?? encoded
        self.init(decoded.isEmpty ? Self.index : decoded)
    }

    // MARK: - Content-Disposition

    /// The name in the value of a `Content-Disposition` field; `nil` if there is none that could be one.
    init?(disposition: String) {
        // Some servers leave the type out: then the first part is a parameter.
        let parameters = MediaType.split(disposition[...], at: UInt8(ascii: ";")).compactMap(Self.parameter)
        let extended = parameters.lazy.filter { $0.name == "filename*" }.compactMap { Self.decoded($0.value) }
        let plain = parameters.lazy.filter { $0.name == "filename" }.map { MediaType.unquote($0.value) }
        let names = [extended.first, plain.first].compactMap { $0 }
        guard let name = names.lazy.compactMap(Self.init(serverName:)).first else { return nil }
        self = name
    }

    /// The last part of what a server calls a file, which may be a path of its own (RFC 6266 §4.3).
    private init?(serverName: String) {
        let scalars = serverName.unicodeScalars
        let separator = scalars.lastIndex { $0 == "/" || $0 == "\\" }
        let last = scalars[(separator.map(scalars.index(after:)) ?? scalars.startIndex)...]
        let name = String(last).trimmingCharacters(in: .whitespacesAndNewlines)
        guard let clean = SafeFilename(name) else { return nil }
        guard FileName.isReserved(clean.text) else {
            self = clean
            return
        }
        text = Self.shortened(clean.text, toBytes: Self.maximumLength - 1) + "_"
    }

    private static func parameter(_ part: Substring) -> (name: String, value: Substring)? {
        guard let equals = part.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let value = part.utf8[part.utf8.index(after: equals)...].trimmingHTTPWhitespace()
        return (Substring(part.utf8[..<equals].trimmingHTTPWhitespace()).lowercased(), Substring(value))
    }

    /// The text of an `ext-value`: a character set, a language, and octets in percent-encoding
    /// (RFC 8187 §3.2.1); `nil` if it is malformed, and then the plain name counts.
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

    /// The octets of a text in percent-encoding; `nil` for one that is malformed.
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

    /// Cuts a name's middle so that it has no more than `limit` bytes of UTF-8, between characters, and keeps
    /// its extension if that is short.
    package static func shortened(_ name: String, toBytes limit: Int) -> String {
        guard name.utf8.count > limit else { return name }
        let ending = nameExtension(name)
        var stem = name.dropLast(ending.count)
        // Counted once: a `dropLast` that recounts everything would take time that grows with the square.
        var length = stem.utf8.count
        while length + ending.utf8.count > limit, let last = stem.popLast() { length -= last.utf8.count }
        guard !stem.isEmpty else {
            // One character of more bytes than that.
            return String(String.UnicodeScalarView(name.unicodeScalars.prefix(limit / 4)))
        }
        return stem + ending
    }

    /// `.iso`, `.tar.gz`, or nothing.
    private static func nameExtension(_ name: String) -> String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex, name[dot...].utf8.count <= 32 else {
            return ""
        }
        let stem = name[..<dot]
        return stem.hasSuffix(".tar") && stem.count > 4 ? ".tar" + name[dot...] : String(name[dot...])
    }
}
