internal import Foundation
internal import OperationNetworking
internal import OperationNetworkingImagesSystem

/// Decides from the head of an image, its end and the limits which bytes are passed to which decoder, or why
/// none are.
struct DecodePlan {
    let format: DecoderFormat
    let bytes: Data
    /// 0 for TIFF: its library applies some of the orientations itself.
    let orientation: UInt32
    /// The size to scale to, before orientation; `nil` if the image is small enough.
    let size: (width: UInt32, height: UInt32)?

    /// - Throws: ``ImageDecodingError``.
    init(
        _ head: ResponseImage,
        _ limits: ImageDecodingLimits,
        maximumPixelSize: Int?
    ) throws(ImageDecodingError) {
        guard let format = Self.format(head.format) else {
            throw ImageDecodingError.unsupportedFormat(head.format)
        }
        guard format == .ico else {
            try self.init(head, as: format, head.data, limits, maximumPixelSize)
            return
        }
        guard let directory = IconDirectory(head.data) else {
            throw ImageDecodingError.malformed(.ico, "None of its images lies within the file.")
        }
        let bytes = directory.bytes(of: head.data)
        let inner = try? ImageHeadResponseSerializer().responseObject(for: nil, data: bytes) as? ResponseImage
        if let inner, inner.format == .png {
            try self.init(inner, as: .png, bytes, limits, maximumPixelSize)
        } else {
            try self.init(head, as: .ico, directory.icon(of: head.data), limits, maximumPixelSize)
        }
    }

    private init(
        _ head: ResponseImage,
        as format: DecoderFormat,
        _ bytes: Data,
        _ limits: ImageDecodingLimits,
        _ maximumPixelSize: Int?
    ) throws(ImageDecodingError) {
        let (width, height) = (head.pixelWidth, head.pixelHeight)
        let (count, isOver) = width.multipliedReportingOverflow(by: height)
        guard !isOver, count <= min(limits.maximumPixelCount, Int(Int32.max)) else {
            throw ImageDecodingError.tooManyPixels(
                width: width,
                height: height,
                limit: limits.maximumPixelCount
            )
        }
        guard ImageEnd.isPresent(in: bytes, of: format) else {
            throw ImageDecodingError.malformed(head.format, "It is truncated.")
        }
        self.format = format
        self.bytes = bytes
        orientation = format == .tiff ? 0 : UInt32(clamping: max(1, head.orientation))
        size = Self.size(width, height, within: maximumPixelSize).map { (UInt32($0), UInt32($1)) }
    }

    /// Returns the size that fits into a square of `limit` with the same aspect ratio; `nil` if it already
    /// fits.
    static func size(_ width: Int, _ height: Int, within limit: Int?) -> (width: Int, height: Int)? {
        guard let limit, limit > 0, max(width, height) > limit else { return nil }
        let factor = Double(limit) / Double(max(width, height))
        return (
            max(1, Int((Double(width) * factor).rounded())), max(1, Int((Double(height) * factor).rounded()))
        )
    }

    private static func format(_ format: ResponseImage.Format) -> DecoderFormat? {
        switch format {
        case .png: .png
        case .jpeg: .jpeg
        case .gif: .gif
        case .webp: .webp
        case .bmp: .bmp
        case .tiff: .tiff
        case .ico: .ico
        case .avif, .cur, .heic, .heif, .xbm: nil
        }
    }
}
