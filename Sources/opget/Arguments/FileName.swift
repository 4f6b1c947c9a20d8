import Foundation
import OperationNetworking

/// The name of one file, without a directory: see `SafeFilename`.
struct FileName: Hashable, Sendable {
    let text: String

    /// The name that an address suggests: the last part of its path, decoded; `index.html` if there is none.
    ///
    /// - Throws: `Failure` when it is `.` or `..`.
    init(suggestedBy url: URL) throws {
        guard let name = SafeFilename(lastPartOf: url) else {
            throw Failure(.usage, "The address ends in \".\" or \"..\", which is no file's name; use -o.")
        }
        text = name.text
    }

    /// Whether a name says that the file is an archive, or an image of any kind, and so no page.
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
