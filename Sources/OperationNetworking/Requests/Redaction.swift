import Foundation
import FoundationNetworking

/// Removes credentials and other secrets from texts for logs, which are kept longer and read by more people
/// than expected: descriptions of errors and operations end there, too.
///
/// | Where                    | What is replaced                                                             |
/// |--------------------------|------------------------------------------------------------------------------|
/// | URL                      | user and password; values of the query whose names tell that they are secret |
/// | header fields            | values of those whose names tell it, such as `Authorization` and `Cookie`    |
/// | bodies, forms and JSON   | values whose names tell it                                                   |
enum Redaction {
    /// The replacement of a secret.
    static let mark = "REDACTED"

    /// Parameters whose names hold none of the words of ``SecretFields``.
    private static let names: Set<String> = ["code", "pin"]

    /// By name, for want of anything better.
    static func isSecret(_ name: String) -> Bool {
        names.contains(name.lowercased()) || SecretFields.isSecret(name)
    }

    // MARK: - URLs

    static func text(of url: URL) -> String {
        text(ofURL: url.absoluteString)
    }

    /// Works on what is no good URL, too: that is what errors are about.
    static func text(ofURL text: String) -> String {
        var rest = text[...]
        var result = ""
        // Not one in a query, as of `?next=https://...`.
        if let scheme = rest.range(of: "://"), !rest[..<scheme.lowerBound].contains(where: "/?#".contains) {
            result = String(rest[..<scheme.upperBound])
            rest = rest[scheme.upperBound...]
        } else if rest.hasPrefix("//") {
            result = "//"
            rest = rest.dropFirst(2)
        }
        // Also where the scheme was forgotten.
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

    /// A fragment is not sent, and may be a token: OAuth has used it for that.
    private static func withoutFragment(_ text: Substring) -> String {
        guard let hash = text.firstIndex(of: "#") else { return String(text) }
        return text[...hash] + (text[hash...].count > 1 ? mark : "")
    }

    // MARK: - Bodies

    /// `a=1&password=2`, as in queries and forms; some write `;` for `&`.
    static func form(_ text: String) -> String {
        text.split(separator: "&", omittingEmptySubsequences: false).map { pair in
            if let shown = field(pair) { return shown }
            return pair.split(separator: ";", omittingEmptySubsequences: false)
                .map { field($0) ?? String($0) }
                .joined(separator: ";")
        }
        .joined(separator: "&")
    }

    /// The same of bytes, in whatever character set.
    static func form(_ data: Data) -> Data {
        // Byte by byte: names that tell that they are secret are ASCII.
        var text = String.UnicodeScalarView()
        for byte in data { text.append(Unicode.Scalar(byte)) }
        return Data(form(String(text)).unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
    }

    /// - Returns: `name=REDACTED`; `nil` if the name does not tell that it is secret.
    private static func field(_ pair: Substring) -> String? {
        guard let equals = pair.firstIndex(of: "=") else { return nil }
        let name = pair[..<equals]
        return isSecret(name.removingPercentEncoding ?? String(name)) ? pair[...equals] + mark : nil
    }

    /// The texts and numbers of JSON whose names tell that they are secret; every other byte stays.
    static func json(_ text: String) -> String {
        var json = JSONSecrets(Array(text.utf8), mark: Array(mark.utf8)) { isSecret($0) }
        return String(decoding: json.redacted(), as: UTF8.self)
    }

    /// The same of bytes. Those of another character set than UTF-8 cannot be looked into, and are not shown.
    static func json(_ data: Data) -> Data {
        guard !data.contains(0), let text = String(validating: data, as: UTF8.self) else {
            return Data(mark.utf8)
        }
        return Data(json(text).utf8)
    }

    // MARK: - Errors

    /// A sentence about the error, on one line, without the secrets of the request that it may repeat.
    static func text(of error: any Error, in request: URLRequest) -> String {
        let sentence: String
        switch error {
        case let error as URLError: sentence = "\(error.localizedDescription) (\(error.code.rawValue))"
        case let error as any CustomStringConvertible & Sendable: sentence = error.description
        default: sentence = (error as NSError).localizedDescription
        }
        // Cut afterwards: half a secret is not found.
        return singleLine(scrub(sentence, of: request).excerpt(500))
    }

    /// Takes out what is secret in this request, wherever it stands.
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

    /// The text on one line, which reads in the order in which it is written: a server's text cannot begin
    /// another line of the log.
    static func singleLine(_ text: String) -> String { text.replacingLayout(by: " ") }
}

extension Unicode.Scalar {
    /// Whether it changes where the text around it is shown: a control character, a line or paragraph
    /// separator (U+2028, U+2029), or one that changes the direction of what follows
    /// ([UAX #9](https://www.unicode.org/reports/tr9/)). No text of a server has one in a line of a log, in a
    /// name, in an event, or on the screen.
    package var changesLayout: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: properties.isBidiControl
        }
    }
}

extension String {
    /// The text with `replacement` for each scalar that ``Unicode/Scalar/changesLayout``.
    package func replacingLayout(by replacement: Unicode.Scalar) -> String {
        guard unicodeScalars.contains(where: \.changesLayout) else { return self }
        return String(UnicodeScalarView(unicodeScalars.map { $0.changesLayout ? replacement : $0 }))
    }
}

extension URL {
    /// The text in the description of an object: without user and password, and without secrets in the query.
    var publicText: String { Redaction.text(of: withoutUserInformation) }
}

/// Takes the texts and numbers out of JSON whose names tell that they are secret. What is no JSON is searched
/// for the same: a text in quotation marks, a colon, and a text or a number. Time grows with the length.
struct JSONSecrets {
    private let bytes: [UInt8]
    private let mark: [UInt8]
    private let isSecret: (String) -> Bool
    private var result: [UInt8] = []
    /// The position of the first byte that is not in ``result``.
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
                // Not the byte behind it: in broken JSON the end of one text may be the beginning of another.
                // A quotation mark within the text has the same end, so it is no name either.
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

    /// The position of the quotation mark that ends the text; `nil`: none does.
    private func endOfText(_ start: Int) -> Int? {
        var position = start + 1
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        return position < bytes.count ? position : nil
    }

    /// The text or number behind the name that ends there.
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
