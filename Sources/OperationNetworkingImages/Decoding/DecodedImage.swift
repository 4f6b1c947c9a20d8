public import Foundation
public import OperationNetworking

/// The pixels of an image.
///
/// Four bytes each: red, green, blue and alpha, in this order, **not premultiplied**; alpha is 255 where the
/// image has none. Rows follow each other from the top, without gaps. The orientation that the image asks for
/// **was applied**: the first row is the upper one as shown. Color profiles are not applied; where there is
/// none, the values are sRGB by the habit of all these formats. Of an animation it is the first frame, of a
/// TIFF the first page, of an icon the largest image.
public struct DecodedImage: Hashable, Sendable {
    /// The format of the bytes that were decoded.
    public let format: ResponseImage.Format
    /// Pixels in a row, as shown. At least 1.
    public let pixelWidth: Int
    /// Rows, as shown. At least 1.
    public let pixelHeight: Int
    /// The pixels: `bytesPerRow * pixelHeight` bytes.
    public let pixels: Data
    /// Whether the image has an alpha channel. All may be opaque even so; those of a TIFF are not.
    public let hasAlpha: Bool
    /// Whether the image has more frames than this one, as far as its first bytes say.
    public let isAnimated: Bool
    /// Pixels per point: the ``ImageResponseSerializer/scale`` of the serializer.
    public let scale: Double

    /// An image of pixels that came from elsewhere, such as a cache of your own.
    ///
    /// - Returns: `nil` when `pixels` are not four bytes for each pixel, or there are none.
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

    /// The bytes of a row: four for each pixel.
    public var bytesPerRow: Int { pixelWidth * 4 }

    /// The width in points.
    public var width: Double { Double(pixelWidth) / scale }

    /// The height in points.
    public var height: Double { Double(pixelHeight) / scale }

    /// The memory that the pixels take, in bytes: the cost in a cache.
    public var byteCount: Int { pixels.count }
}
