public import Foundation
public import OperationNetworking

/// The pixels of an image.
///
/// Each pixel has four bytes: red, green, blue and alpha, **not premultiplied**; alpha is 255 if the image
/// has none. Rows are stored from top to bottom, without gaps. The image's orientation **is applied**: the
/// first row is the top row as shown. Color profiles are not applied; without one, the values are sRGB by
/// convention. Contains the first frame of an animation, the first page of a TIFF, and the largest image of
/// an icon.
public struct DecodedImage: Hashable, Sendable {
    /// The format of the bytes that were decoded.
    public let format: ResponseImage.Format
    /// The width in pixels, as shown. At least 1.
    public let pixelWidth: Int
    /// The height in pixels, as shown. At least 1.
    public let pixelHeight: Int
    /// The pixels: `bytesPerRow * pixelHeight` bytes.
    public let pixels: Data
    /// Whether the image has an alpha channel. All pixels may still be opaque, except in a TIFF.
    public let hasAlpha: Bool
    /// Whether the image has further frames, as far as its first bytes show.
    public let isAnimated: Bool
    /// The pixels per point: the serializer's ``ImageResponseSerializer/scale``.
    public let scale: Double

    /// Creates an image from existing pixels, such as those of your own cache.
    ///
    /// - Returns: `nil` if `pixels` does not have four bytes per pixel, or is empty.
    public init?(
        pixels: Data,
        pixelWidth: Int,
        pixelHeight: Int,
        hasAlpha: Bool = true,
        scale: Double = 1,
        format: ResponseImage.Format = .png,
        isAnimated: Bool = false
    ) {
        let (count, isOver) = pixelWidth.multipliedReportingOverflow(by: pixelHeight)
        guard pixelWidth > 0, pixelHeight > 0, !isOver, count <= Int.max / 4, pixels.count == count * 4
        else { return nil }
        self.format = format
        self.pixelWidth = pixelWidth
        self.pixelHeight = pixelHeight
        self.pixels = pixels
        self.hasAlpha = hasAlpha
        self.isAnimated = isAnimated
        self.scale = scale > 0 && scale.isFinite ? scale : 1
    }

    // MARK: - As shown

    /// The bytes per row: four per pixel.
    public var bytesPerRow: Int { pixelWidth * 4 }

    /// The width in points.
    public var width: Double { Double(pixelWidth) / scale }

    /// The height in points.
    public var height: Double { Double(pixelHeight) / scale }

    /// The memory that the pixels use, in bytes: the cost in a cache.
    public var byteCount: Int { pixels.count }
}
