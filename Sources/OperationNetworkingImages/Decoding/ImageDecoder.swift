public import Foundation
public import OperationNetworking
internal import OperationNetworkingImagesSystem

/// Decodes images: PNG, JPEG, GIF, WebP, BMP, TIFF and ICO.
///
/// The library reads format and size from the first bytes and checks the limits before a decoder receives the
/// image. Images are decoded in a separate process without access to files or the network: if an image
/// crashes or exploits the decoder, only that process is affected, and decoding fails with an error.
///
/// ```swift
/// let image = try ImageDecoder(maximumPixelSize: 256).image(from: data)
/// ```
public struct ImageDecoder: Hashable, Codable, Sendable {
    /// The pixels per point of the images. Defaults to 1.
    public var scale: Double
    /// The maximum width and height in pixels. Larger images are scaled down, keeping their aspect ratio.
    /// `nil` (the default) keeps the stored size.
    public var maximumPixelSize: Int?
    /// The limits on pixels, memory and time.
    public var limits: ImageDecodingLimits

    /// Creates a decoder that keeps the stored size unless a limit is given.
    public init(
        scale: Double = 1,
        maximumPixelSize: Int? = nil,
        limits: ImageDecodingLimits = ImageDecodingLimits()
    ) {
        self.scale = scale
        self.maximumPixelSize = maximumPixelSize
        self.limits = limits
    }

    /// The identifier of its images in an ``ImageDownloader``'s cache, which distinguishes sizes of the same
    /// URL. `nil` for images in their stored size with one pixel per point.
    public var cacheIdentifier: String? {
        guard scale != 1 || maximumPixelSize != nil else { return nil }
        return "maximumPixelSize=\(maximumPixelSize.map { "\($0)" } ?? "none") scale=\(scale)"
    }

    /// Decodes an image. Blocks the thread.
    ///
    /// - Throws: ``ImageDecodingError``; `ResponseSerializationError` if the data is not an image.
    public func image(from data: Data) throws -> DecodedImage {
        var serializer = ImageHeadResponseSerializer()
        serializer.acceptableContentTypes = nil
        guard let head = try serializer.responseObject(for: nil, data: data) as? ResponseImage else {
            throw ImageDecodingError.malformed(.png, "It is empty.")
        }
        return try image(of: head)
    }

    /// Decodes an image whose head has been read. Blocks the thread.
    ///
    /// - Throws: ``ImageDecodingError``.
    public func image(of head: ResponseImage) throws(ImageDecodingError) -> DecodedImage {
        let plan = try DecodePlan(head, limits, maximumPixelSize: maximumPixelSize)
        let request = DecoderProcess.Request(
            format: plan.format,
            bytes: plan.bytes,
            maximumPixels: UInt64(clamping: limits.maximumPixelCount),
            memory: UInt64(clamping: max(1 << 20, limits.maximumMemory)),
            time: .seconds(limits.maximumDuration > 0 ? min(limits.maximumDuration, 86_400) : 0),
            orientation: plan.orientation,
            size: plan.size,
            maximumSide: maximumPixelSize.flatMap { $0 > 0 ? UInt32(clamping: $0) : nil }
        )
        let pixels: DecoderProcess.Pixels
        do throws(DecoderFailure) {
            pixels = try DecoderPool.shared.decode(request)
        } catch {
            throw self.error(error, head)
        }
        guard
            let image = DecodedImage(
                pixels: pixels.bytes,
                pixelWidth: pixels.width,
                pixelHeight: pixels.height,
                hasAlpha: pixels.hasAlpha,
                scale: scale,
                format: head.format,
                isAnimated: head.isAnimated
            )
        else { throw ImageDecodingError.decoderFailed("its result has a different size than it announced") }
        return image
    }

    private func error(_ failure: DecoderFailure, _ head: ResponseImage) -> ImageDecodingError {
        switch failure {
        case .malformed(let sentence): .malformed(head.format, sentence)
        case .tooLarge:
            .tooManyPixels(
                width: head.pixelWidth,
                height: head.pixelHeight,
                limit: limits.maximumPixelCount
            )
        case .outOfMemory: .memoryLimitExceeded(limits.maximumMemory)
        case .missing:
            .decoderUnavailable(
                head.format == .webp
                    ? "gdk-pixbuf has no module for WebP (Debian: webp-pixbuf-loader)"
                    : "gdk-pixbuf 2 is not installed (Debian: libgdk-pixbuf-2.0-0)"
            )
        case .timedOut: .timeLimitExceeded(limits.maximumDuration)
        case .ended(let signal): .decoderFailed(DecoderFailure.name(ofSignal: signal))
        case .notStarted(let code):
            .decoderUnavailable("its process could not be started (errno \(code))")
        case .isPlugIn:
            .decoderUnavailable("the library is in a plug-in instead of the program or one of its libraries")
        }
    }
}
