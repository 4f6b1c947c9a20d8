internal import Foundation

/// The default fields of every request, as in AFNetworking.
enum DefaultHeaders {
    /// Computed once: the environment and the process name are not expected to change.
    static let ofProcess: HeaderFields = [
        "Accept-Language": acceptLanguage(environment: ProcessInfo.processInfo.environment),
        "User-Agent": userAgent(
            process: ProcessInfo.processInfo.processName,
            version: Bundle.main.infoDictionary?["CFBundleShortVersionString"] as? String,
            system: ProcessInfo.processInfo.operatingSystemVersionString
        ),
    ]

    // MARK: - Accept-Language

    /// `pt-BR;q=1, de;q=0.9` from `LANGUAGE`, `LC_ALL`, `LC_MESSAGES` and `LANG`, in gettext's order of
    /// precedence; at most six languages, the last with a weight of 0.5.
    ///
    /// The locales `C` and `POSIX`, and an environment without a locale, mean English.
    static func acceptLanguage(environment: [String: String]) -> String {
        languages(environment: environment, limit: 6).enumerated()
            .map { "\($1);q=\($0 == 0 ? "1" : "0.\(10 - $0)")" }
            .joined(separator: ", ")
    }

    private static func languages(environment: [String: String], limit: Int) -> [String] {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy
            .compactMap { environment[$0] }
            .first { !$0.isEmpty }
        guard let locale, let main = languageTag(ofLocale: locale) else { return ["en"] }
        // LANGUAGE is a list in order of preference; gettext ignores it in the locale C.
        let preferred = (environment["LANGUAGE"] ?? "").split(separator: ":")
            .compactMap { languageTag(ofLocale: String($0)) }
        var languages: [String] = []
        for language in preferred.isEmpty ? [main] : preferred where !languages.contains(language) {
            guard languages.count < limit else { break }
            languages.append(language)
        }
        return languages
    }

    /// `pt-BR` for `pt_BR.UTF-8` and `sr-RS` for `sr_RS@latin`; `nil` for `C`, `POSIX` and invalid locales.
    private static func languageTag(ofLocale locale: String) -> String? {
        let parts = locale.prefix { $0 != "." && $0 != "@" }.split(
            separator: "_",
            omittingEmptySubsequences: false
        )
        let areSubtags = parts.allSatisfy { part in
            (1...8).contains(part.utf8.count)
                && part.utf8.allSatisfy { $0.isASCIIDigit || $0.lowercasedASCII &- UInt8(ascii: "a") < 26 }
        }
        guard let language = parts.first, (2...3).contains(language.utf8.count), areSubtags else {
            return nil
        }
        return parts.joined(separator: "-")
    }

    // MARK: - User-Agent

    /// `name/version (Linux; system)` in ASCII. An unknown version is 0.
    static func userAgent(process: String, version: String?, system: String) -> String {
        "\(productToken(process))/\(version.map(productToken) ?? "0") (Linux; \(comment(system)))"
    }

    /// Returns the text as a token, with other characters replaced by hyphens.
    private static func productToken(_ text: String) -> String {
        let octets = ASCIIFolding.fold(text).utf8.map { $0.isHTTPTokenCharacter ? $0 : UInt8(ascii: "-") }
        return octets.isEmpty ? "-" : String(decoding: octets, as: UTF8.self)
    }

    /// Returns the text as the content of a comment: printable, without unbalanced parentheses.
    private static func comment(_ text: String) -> String {
        let folded = ASCIIFolding.fold(text).filter { $0.isASCII && $0.isHTTPPrintable && $0 != "\\" }
        var depth = 0
        for character in folded {
            depth += character == "(" ? 1 : character == ")" ? -1 : 0
            if depth < 0 { break }
        }
        return depth == 0 ? folded : folded.filter { $0 != "(" && $0 != ")" }
    }
}

extension Character {
    fileprivate var isHTTPPrintable: Bool {
        asciiValue.map { $0 >= 0x20 && $0 < 0x7F } ?? false
    }
}

/// Converts Latin text to ASCII. `applyingTransform` does nothing on Linux.
enum ASCIIFolding {
    /// Returns `Ubergrosse` for `Übergröße`. Characters without a Latin equivalent are dropped.
    static func fold(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
        var folded = ""
        for scalar in text.decomposedStringWithCompatibilityMapping.unicodeScalars {
            if scalar.isASCII {
                folded.unicodeScalars.append(scalar)
            } else if let letters = undecomposable[scalar] {
                folded += letters
            }
        }
        return folded
    }

    /// The Latin letters that Unicode does not decompose.
    private static let undecomposable: [Unicode.Scalar: String] = [
        "ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "đ": "d",
        "Đ": "D",
        "ð": "d", "Ð": "D", "þ": "th", "Þ": "TH", "ł": "l", "Ł": "L", "ħ": "h", "Ħ": "H", "ı": "i", "ŋ": "n",
        "–": "-", "—": "-", "‘": "'", "’": "'", "“": "\"", "”": "\"",
    ]
}
