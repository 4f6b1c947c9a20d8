import Foundation
import FoundationNetworking

/// Removes credentials and other secrets from text for logs, which are kept longer and read by more people
/// than expected. Descriptions of errors and operations end up there, too.
///
/// | Where                  | Replaced                                                        |
/// |------------------------|-----------------------------------------------------------------|
/// | URL                    | user and password; query values with a secret name              |
/// | header fields          | values with a secret name, such as `Authorization` and `Cookie` |
/// | bodies, forms and JSON | values with a secret name                                       |
enum Redaction {
    /// The replacement of a secret.
    static let mark = "REDACTED"

    /// Secret parameters whose names contain none of the words of ``SecretFields``.
    private static let names: Set<String> = ["code", "pin"]

    /// Decides by name, for lack of a better criterion.
    static func isSecret(_ name: String) -> Bool {
        names.contains(name.lowercased()) || SecretFields.isSecret(name)
    }

    // MARK: - URLs

    static func text(of url: URL) -> String {
        text(ofURL: url.absoluteString)
    }

    /// Also works on invalid URLs, which errors describe.
    static func text(ofURL text: String) -> String {
        var rest = text[...]
        var result = ""
        // Ignores a scheme in the query, as in `?next=https://...`.
        if let scheme = rest.range(of: "://"), !rest[..<scheme.lowerBound].contains(where: "/?#".contains) {
            result = String(rest[..<scheme.upperBound])
            rest = rest[scheme.upperBound...]
        } else if rest.hasPrefix("//") {
            result = "//"
            rest = rest.dropFirst(2)
        }
        // Also if the scheme is missing.
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        if let at = rest[..<end].lastIndex(of: "@") {
            result += mark
            rest = rest[at...]
        }
        let fragment = rest.firstIndex(of: "#") ?? rest.endIndex
        guard let question = rest[..<fragment].firstIndex(of: "?") else {
            return result + withoutFragment(rest)
        }
        let query = rest[rest.index(after: question)..<fragment]
        return result + rest[...question] + form(String(query)) + withoutFragment(rest[fragment...])
    }

    /// A fragment is not sent, and may be a token, as in OAuth.
    private static func withoutFragment(_ text: Substring) -> String {
        guard let hash = text.firstIndex(of: "#") else { return String(text) }
        return text[...hash] + (text[hash...].count > 1 ? mark : "")
    }

    // MARK: - Bodies

    /// Redacts `a=1&password=2`, as in queries and forms; some use `;` instead of `&`.
    static func form(_ text: String) -> String {
        text.split(separator: "&", omittingEmptySubsequences: false).map { pair in
            if let shown = field(pair) { return shown }
            return pair.split(separator: ";", omittingEmptySubsequences: false)
                .map { field($0) ?? String($0) }
                .joined(separator: ";")
        }
        .joined(separator: "&")
    }

    /// The same for bytes in any character set.
    static func form(_ data: Data) -> Data {
        // By byte: secret names are ASCII.
        var text = String.UnicodeScalarView()
        for byte in data { text.append(Unicode.Scalar(byte)) }
        return Data(form(String(text)).unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
    }

    /// - Returns: `name=REDACTED`; `nil` if the name is not secret.
    private static func field(_ pair: Substring) -> String? {
        guard let equals = pair.firstIndex(of: "=") else { return nil }
        let name = pair[..<equals]
        return isSecret(name.removingPercentEncoding ?? String(name)) ? pair[...equals] + mark : nil
    }

    /// Redacts the strings and numbers of JSON with a secret name; every other byte is kept.
    static func json(_ text: String) -> String {
        var json = JSONSecrets(Array(text.utf8), mark: Array(mark.utf8)) { isSecret($0) }
        return String(decoding: json.redacted(), as: UTF8.self)
    }

    /// The same for bytes. Bytes that are not UTF-8 cannot be searched and are not shown.
    static func json(_ data: Data) -> Data {
        guard !data.contains(0), let text = String(validating: data, as: UTF8.self) else {
            return Data(mark.utf8)
        }
        return Data(json(text).utf8)
    }

    // MARK: - Errors

    /// Returns a description of the error on one line, without secrets of the request that it may contain.
    static func text(of error: any Error, in request: URLRequest) -> String {
        let sentence: String
        switch error {
        case let error as URLError: sentence = "\(error.localizedDescription) (\(error.code.rawValue))"
        case let error as any CustomStringConvertible & Sendable: sentence = error.description
        default: sentence = (error as NSError).localizedDescription
        }
        // Truncated after scrubbing: half a secret would not be found.
        return singleLine(scrub(sentence, of: request).excerpt(500))
    }

    /// Removes the secrets of this request wherever they occur.
    static func scrub(_ text: String, of request: URLRequest) -> String {
        var text = text
        if let url = request.url {
            text = text.replacingOccurrences(of: url.absoluteString, with: Self.text(of: url))
            for secret in [url.password(percentEncoded: true), url.password(percentEncoded: false)] {
                if let secret, secret.count > 2 { text = text.replacingOccurrences(of: secret, with: mark) }
            }
        }
        for (name, value) in request.allHTTPHeaderFields ?? [:] where isSecret(name) && value.count > 2 {
            text = text.replacingOccurrences(of: value, with: mark)
        }
        return text
    }

    /// Returns the text on one line, in reading order, so that text from a server cannot begin another line
    /// of the log.
    static func singleLine(_ text: String) -> String { text.replacingLayout(by: " ") }
}

extension Unicode.Scalar {
    /// Whether it changes where the surrounding text is shown: a control character, a line or paragraph
    /// separator (U+2028, U+2029), or a character that changes the text direction ([UAX
    /// #9](https://www.unicode.org/reports/tr9/)). These are replaced in all text from servers that is
    /// logged, used in a name or an event, or shown on screen.
    package var changesLayout: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: properties.isBidiControl
        }
    }
}

extension String {
    /// Returns the text with each scalar that ``Unicode/Scalar/changesLayout`` replaced.
    package func replacingLayout(by replacement: Unicode.Scalar) -> String {
        guard unicodeScalars.contains(where: \.changesLayout) else { return self }
        return String(UnicodeScalarView(unicodeScalars.map { $0.changesLayout ? replacement : $0 }))
    }
}

extension URL {
    /// The text for descriptions of objects: without user and password, and without secrets in the query.
    var publicText: String { Redaction.text(of: withoutUserInformation) }
}

/// Redacts the strings and numbers of JSON with a secret name. Invalid JSON is searched for the same pattern:
/// a quoted string, a colon, and a string or a number. Takes linear time.
struct JSONSecrets {
    private let bytes: [UInt8]
    private let mark: [UInt8]
    private let isSecret: (String) -> Bool
    private var result: [UInt8] = []
    /// The position of the first byte that has not been copied to ``result``.
    private var copied = 0

    init(_ bytes: [UInt8], mark: [UInt8], isSecret: @escaping (String) -> Bool) {
        self.bytes = bytes
        self.mark = mark
        self.isSecret = isSecret
        result.reserveCapacity(bytes.count)
    }

    mutating func redacted() -> [UInt8] {
        var position = 0
        while let start = bytes[position...].firstIndex(of: UInt8(ascii: "\"")),
            let end = endOfText(start)
        {
            guard let value = value(after: end) else {
                // Continue at the quotation mark itself: in invalid JSON the end of one string may be the
                // beginning of another. A quotation mark within the string has the same end, so it does not
                // begin a name either.
                position = end
                continue
            }
            if isSecret(String(decoding: bytes[start + 1..<end], as: UTF8.self)) {
                result += bytes[copied..<value.lowerBound]
                result.append(UInt8(ascii: "\""))
                result += mark
                result.append(UInt8(ascii: "\""))
                copied = value.upperBound
            }
            position = value.upperBound
        }
        result += bytes[copied...]
        return result
    }

    /// The position of the closing quotation mark, if any.
    private func endOfText(_ start: Int) -> Int? {
        var position = start + 1
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        return position < bytes.count ? position : nil
    }

    /// The string or number after the name that ends at `end`.
    private func value(after end: Int) -> Range<Int>? {
        let colon = skippingSpace(end + 1)
        guard colon < bytes.count, bytes[colon] == UInt8(ascii: ":") else { return nil }
        let start = skippingSpace(colon + 1)
        guard start < bytes.count else { return nil }
        if bytes[start] == UInt8(ascii: "\"") { return endOfText(start).map { start..<$0 + 1 } }
        let end = bytes[start...].firstIndex { !Self.numberBytes.contains($0) } ?? bytes.count
        return end > start ? start..<end : nil
    }

    private static let numberBytes = Set("-+.0123456789eE".utf8)

    private func skippingSpace(_ start: Int) -> Int {
        bytes[min(start, bytes.count)...].firstIndex { ![0x20, 0x09, 0x0A, 0x0B, 0x0C, 0x0D].contains($0) }
            ?? bytes.count
    }
}
