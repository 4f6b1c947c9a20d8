public import Foundation

/// An image in its original encoding, with the properties that its first bytes show. Its pixels are not
/// decoded.
///
/// Create an image of your image library from ``data``. It is safe to choose a decoder by ``format``, and to
/// refuse a picture of a billion pixels before a decoder allocates them.
public struct ResponseImage: Hashable, Sendable {
    /// The whole body.
    public let data: Data
    /// The format of the bytes. The response's media type may name another.
    public let format: Format
    /// The width in pixels, as stored, before ``orientation`` is applied. At least 1.
    public let pixelWidth: Int
    /// The height in pixels, as stored, before ``orientation`` is applied. At least 1.
    public let pixelHeight: Int
    /// The rotation and mirroring for display, from 1 to 8 as in
    /// [Exif](https://www.cipa.jp/e/std/std-sec.html); 1 means as stored.
    public let orientation: Int
    /// Whether it has several frames to play: GIF, PNG, WebP, AVIF, HEIC, HEIF.
    public let isAnimated: Bool
    /// The pixels per point: the ``ImageHeadResponseSerializer/scale`` of the serializer.
    public let scale: Double

    // MARK: - Display

    /// Whether rows are displayed as columns, as for a camera held upright.
    public var isRotated: Bool { orientation >= 5 }

    /// The displayed width, in points.
    public var width: Double { Double(isRotated ? pixelHeight : pixelWidth) / scale }

    /// The displayed height, in points.
    public var height: Double { Double(isRotated ? pixelWidth : pixelHeight) / scale }
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
        /// A bitmap of Windows or OS/2.
        case bmp
        /// A Windows cursor.
        case cur
        /// [GIF 87a or 89a](https://www.w3.org/Graphics/GIF/spec-gif89a.txt).
        case gif
        /// HEVC in a HEIF container.
        case heic
        /// A HEIF container with another codec.
        case heif
        /// A Windows icon. It may contain several images; the size is that of the largest.
        case ico
        /// [JPEG](https://www.w3.org/Graphics/JPEG/itu-t81.pdf), with any coding process.
        case jpeg
        /// [PNG](https://www.w3.org/TR/png-3/).
        case png
        /// TIFF 6.0 or BigTIFF. The size is that of the first page.
        case tiff
        /// [WebP](https://www.rfc-editor.org/rfc/rfc9649): lossy, lossless or extended.
        case webp
        /// X11 bitmap, which is C source.
        case xbm

        /// The registered media type, or the common one if none is registered.
        public var mimeType: String {
            switch self {
            case .avif, .bmp, .gif, .heic, .heif, .jpeg, .png, .tiff, .webp: "image/\(rawValue)"
            case .cur, .ico: "image/vnd.microsoft.icon"
            case .xbm: "image/x-xbitmap"
            }
        }
    }
}
