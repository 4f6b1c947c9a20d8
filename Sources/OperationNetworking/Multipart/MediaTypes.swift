internal import Foundation

/// The media type of a file, by the extension of its name: one of a table of about forty, which are the same on
/// every machine, else that of the system's file, `/etc/mime.types` (Debian's package media-types).
enum MediaTypes {
    /// The default media type ([RFC 2046 §4.5.1](https://www.rfc-editor.org/rfc/rfc2046#section-4.5.1)).
    static let unknown = "application/octet-stream"

    /// Returns the type for an extension such as `json`, in any case; ``unknown`` if there is none.
    static func type(ofExtension pathExtension: String) -> String {
        let name = pathExtension.lowercased()
        return table[name] ?? system[name] ?? unknown
    }

    /// The types of a file such as the system's: a type and its extensions in each line, and comments.
    static func types(in text: String) -> [String: String] {
        var types: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
            let words = line.split(whereSeparator: \.isWhitespace)
            for name in words.dropFirst() {
                types[name.lowercased()] = types[name.lowercased()] ?? String(words[0])
            }
        }
        return types
    }

    /// Read once, at the first use. Empty where there is no such file.
    private static let system: [String: String] = {
        let file = try? Data(contentsOf: URL(filePath: "/etc/mime.types"))
        return file.map { types(in: String(decoding: $0, as: UTF8.self)) } ?? [:]
    }()

    private static let table = [
        "json": "application/json", "xml": "application/xml", "pdf": "application/pdf",
        "zip": "application/zip", "gz": "application/gzip", "tar": "application/x-tar",
        "bz2": "application/x-bzip2", "xz": "application/x-xz", "zst": "application/zstd",
        "7z": "application/x-7z-compressed", "rtf": "application/rtf", "wasm": "application/wasm",
        "yaml": "application/yaml", "yml": "application/yaml",  // RFC 9512
        "toml": "application/toml",
        "doc": "application/msword",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "html": "text/html", "htm": "text/html", "txt": "text/plain", "log": "text/plain",
        "csv": "text/csv", "css": "text/css", "md": "text/markdown", "js": "text/javascript",
        "swift": "text/x-swift",
        "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "gif": "image/gif",
        "webp": "image/webp", "avif": "image/avif", "heic": "image/heic", "svg": "image/svg+xml",
        "tiff": "image/tiff", "bmp": "image/bmp",
        "mp3": "audio/mpeg", "m4a": "audio/mp4", "ogg": "audio/ogg", "wav": "audio/x-wav",
        "flac": "audio/flac",
        "mp4": "video/mp4", "mov": "video/quicktime", "webm": "video/webm", "ts": "video/mp2t",
        // As in AFNetworking on Apple's platforms.
        "cer": "application/x-x509-ca-cert", "der": "application/x-x509-ca-cert",
        "plist": "application/x-plist",
    ]
}
