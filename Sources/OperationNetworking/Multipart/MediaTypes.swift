/// The media types of files, by file name extension.
enum MediaTypes {
    /// The default media type ([RFC 2046 §4.5.1](https://www.rfc-editor.org/rfc/rfc2046#section-4.5.1)).
    static let unknown = "application/octet-stream"

    /// Returns the type for an extension such as `json`, in any case; ``unknown`` if there is none.
    static func type(ofExtension pathExtension: String) -> String {
        let name = pathExtension.lowercased()
        return additions[name] ?? table[name] ?? unknown
    }

    /// Types that are missing from the table, or that differ in AFNetworking on Apple's platforms.
    private static let additions = [
        "cer": "application/x-x509-ca-cert", "der": "application/x-x509-ca-cert",
        "plist": "application/x-plist",
        "yaml": "application/yaml", "yml": "application/yaml",  // RFC 9512
        "toml": "application/toml", "bz2": "application/x-bzip2", "log": "text/plain",
        "swift": "text/x-swift", "ts": "video/mp2t",
    ]

    /// Parsed once, at first use.
    private static let table: [String: String] = {
        var table: [String: String] = [:]
        var group = ""
        var subtype: Substring?
        for line in MediaTypeTable.text.split(separator: "\n") {
            if line.hasSuffix("/") {
                group = String(line)
                continue
            }
            for word in line.split(separator: " ") {
                let isLast = word.hasSuffix(";")
                if let type = subtype {
                    table[String(isLast ? word.dropLast() : word)] = group + type
                    if isLast { subtype = nil }
                } else {
                    subtype = word
                }
            }
        }
        return table
    }()
}
