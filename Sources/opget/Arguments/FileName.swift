import Foundation
import OperationNetworking

/// The name of one file, without a directory: see `SafeFilename`.
struct FileName: Hashable, Sendable {
    let text: String

    /// Creates the name that an address suggests: the decoded last component of its path, or `index.html`.
    ///
    /// - Throws: `Failure` if it is `.` or `..`.
    init(suggestedBy url: URL) throws {
        guard let name = SafeFilename(lastPartOf: url) else {
            throw Failure(.usage, "The URL ends in \".\" or \"..\", which is not a file name; use -o.")
        }
        text = name.text
    }

    /// Whether the extension is that of an archive or image, which is not a web page.
    static func namesArchiveOrImage(_ name: String) -> Bool {
        guard let dot = name.lastIndex(of: ".") else { return false }
        return archivesAndImages.contains(name[name.index(after: dot)...].lowercased())
    }

    private static let archivesAndImages: Set<String> = [
        "7z", "apk", "avif", "bmp", "bz2", "cab", "cpio", "deb", "dmg", "gif", "gz", "img", "iso", "jar",
        "jpeg",
        "jpg", "lz", "lz4", "lzma", "msi", "png", "qcow2", "rar", "rpm", "svgz", "tar", "tbz2", "tgz", "tif",
        "tiff", "txz", "vdi", "vhd", "vmdk", "webp", "whl", "xz", "zip", "zst",
    ]
}
