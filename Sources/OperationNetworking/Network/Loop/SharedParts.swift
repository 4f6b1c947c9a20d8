internal import OperationNetworkingSystem

/// The parts of requests that libcurl reads in place, as transfers were started with of late: their URLs, and
/// the fields of the last one. A value, used on the network thread.
struct SharedParts {
    /// The limit of URLs; then all of them are forgotten. One that is not known costs what libcurl would
    /// spend on it.
    static let urlLimit = 256

    /// The longest URL that is kept, in octets.
    static let longestURL = 2048

    private var urls: [String: ParsedURL] = [:]
    /// The next transfer often has the same: to compare costs less than to hash.
    private var lastURL: ParsedURL?
    private var lastFields: HeaderList?

    /// The number of URLs.
    var urlCount: Int { urls.count }

    /// - Returns: `nil` for a URL that libcurl is to take apart by itself.
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

    /// `octetLine`: the one of the lines with one scalar for each octet. It is not ASCII, and so not shared.
    ///
    /// - Throws: when there is no memory.
    mutating func fields(_ lines: [String], octetLine: String? = nil) throws(CurlError) -> HeaderList {
        if let lastFields, Self.areSame(lastFields.lines, lines) { return lastFields }
        let made = try HeaderList(lines, octetLine: octetLine)
        // A secret goes with its transfer.
        lastFields = lines.contains { $0.mayBeSecret || !$0.utf8.allSatisfy { $0 < 0x80 } } ? nil : made
        return made
    }

    /// Whether the octets are the same, where those of `kept` are ASCII: Swift takes other octets for the
    /// same text, such as U+212A for the letter K.
    private static func areSame(_ kept: [String], _ lines: [String]) -> Bool {
        kept.count == lines.count
            && zip(kept, lines).allSatisfy { $0.utf8.count == $1.utf8.count && $0 == $1 }
    }
}

extension String {
    /// Whether a line of a head proves who asks, as far as its name says.
    fileprivate var mayBeSecret: Bool {
        let name = prefix { $0 != ":" }.lowercased()
        return ["authorization", "cookie", "token", "key", "secret"].contains { name.contains($0) }
    }
}
