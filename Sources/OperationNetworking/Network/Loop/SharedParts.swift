internal import OperationNetworkingSystem

/// The parts of recent requests that libcurl reads in place: their URLs, and the fields of the last one. A
/// value, used on the network thread.
struct SharedParts {
    /// The maximum number of URLs; beyond it all are discarded. An unknown URL costs what libcurl would spend
    /// on it.
    static let urlLimit = 256

    /// The maximum length of a URL that is kept, in bytes.
    static let longestURL = 2048

    private var urls: [String: ParsedURL] = [:]
    /// The next transfer often has the same one: comparing costs less than hashing.
    private var lastURL: ParsedURL?
    private var lastFields: HeaderList?

    /// The number of URLs.
    var urlCount: Int { urls.count }

    /// - Returns: `nil` for a URL that libcurl has to parse itself.
    mutating func url(_ text: String) -> ParsedURL? {
        if let lastURL, lastURL.text == text { return lastURL }
        let found = urls[text] ?? makeURL(text)
        lastURL = found
        return found
    }

    private mutating func makeURL(_ text: String) -> ParsedURL? {
        guard text.utf8.count <= Self.longestURL, let made = ParsedURL(text) else { return nil }
        if urls.count >= Self.urlLimit { urls.removeAll(keepingCapacity: true) }
        urls[text] = made
        return made
    }

    /// `octetLine` is the line with one scalar per byte, if there is one. It is not ASCII, and so not shared.
    ///
    /// - Throws: if there is no memory.
    mutating func fields(_ lines: [String], octetLine: String? = nil) throws(CurlError) -> HeaderList {
        if let lastFields, Self.areSame(lastFields.lines, lines) { return lastFields }
        let made = try HeaderList(lines, octetLine: octetLine)
        // Secrets are not kept after their transfer.
        lastFields = lines.contains { $0.mayBeSecret || !$0.utf8.allSatisfy { $0 < 0x80 } } ? nil : made
        return made
    }

    /// Whether the bytes are the same, given that those of `kept` are ASCII: Swift considers different bytes
    /// equal text, such as U+212A and the letter K.
    private static func areSame(_ kept: [String], _ lines: [String]) -> Bool {
        kept.count == lines.count
            && zip(kept, lines).allSatisfy { $0.utf8.count == $1.utf8.count && $0 == $1 }
    }
}

extension String {
    /// Whether a header line may be a secret, judging by its name.
    fileprivate var mayBeSecret: Bool {
        let name = prefix { $0 != ":" }.lowercased()
        return ["authorization", "cookie", "token", "key", "secret"].contains { name.contains($0) }
    }
}
