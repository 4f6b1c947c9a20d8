public import Foundation

/// An image as it came, with what its first bytes say of it. Its pixels are not decoded.
///
/// Make with it what your image library makes of ``data``: it is safe to choose by ``format``, and to refuse
/// a picture of a billion pixels before a decoder allocates them.
public struct ResponseImage: Hashable, Sendable {
    /// The whole body.
    public let data: Data
    /// The format of the bytes, which the response's media type may misname.
    public let format: Format
    /// The width in pixels, as stored, before ``orientation`` is applied. At least 1.
    public let pixelWidth: Int
    /// The height in pixels, as stored, before ``orientation`` is applied. At least 1.
    public let pixelHeight: Int
    /// The rotation and mirroring for display: 1 to 8 as in [Exif](https://www.cipa.jp/e/std/std-sec.html), 1
    /// being as stored.
    public let orientation: Int
    /// Whether there is more than one frame to be played: GIF, PNG, WebP, AVIF, HEIC, HEIF.
    public let isAnimated: Bool
    /// Pixels per point: the ``ImageHeadResponseSerializer/scale`` of the serializer.
    public let scale: Double

    // MARK: - As shown

    /// Whether rows are shown as columns: a camera held upright.
    public var isTurned: Bool { orientation >= 5 }

    /// The width as shown, in points.
    public var width: Double { Double(isTurned ? pixelHeight : pixelWidth) / scale }

    /// The height as shown, in points.
    public var height: Double { Double(isTurned ? pixelWidth : pixelHeight) / scale }
}

// MARK: - Format

extension ResponseImage {
    /// The encoding of an image.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Format: String, Hashable, Sendable, CaseIterable {
        /// [AV1 in a HEIF container](https://aomediacodec.github.io/av1-avif/).
        case avif
        /// Windows bitmap, or the one of OS/2.
        case bmp
        /// A Windows cursor.
        case cur
        /// [GIF 87a or 89a](https://www.w3.org/Graphics/GIF/spec-gif89a.txt).
        case gif
        /// HEVC in a HEIF container.
        case heic
        /// A HEIF container with something else in it.
        case heif
        /// A Windows icon: several images, the size is that of the largest one.
        case ico
        /// [JPEG](https://www.w3.org/Graphics/JPEG/itu-t81.pdf) of any process.
        case jpeg
        /// [PNG](https://www.w3.org/TR/png-3/).
        case png
        /// TIFF 6.0 or BigTIFF: the size is that of the first page.
        case tiff
        /// [WebP](https://www.rfc-editor.org/rfc/rfc9649): lossy, lossless or extended.
        case webp
        /// X11 bitmap: C source.
        case xbm

        /// The media type that is registered or, where none is, in use.
        public var mimeType: String {
            switch self {
            case .avif, .bmp, .gif, .heic, .heif, .jpeg, .png, .tiff, .webp: "image/\(rawValue)"
            case .cur, .ico: "image/vnd.microsoft.icon"
            case .xbm: "image/x-xbitmap"
            }
        }
    }
}
