public import Foundation
public import OperationNetworking
internal import OperationNetworkingImagesSystem

/// Decodes images: PNG, JPEG, GIF, WebP, BMP, TIFF and ICO.
///
/// The format and the size are found in the first bytes by this library, and judged by the limits, before a
/// decoder sees the image. It is decoded in another process, which has neither files nor network: an image
/// that makes the decoder fail, or that is made to take it over, costs that process and is an error here.
///
/// ```swift
/// let image = try ImageDecoder(maximumPixelSize: 256).image(from: data)
/// ```
public struct ImageDecoder: Hashable, Codable, Sendable {
    /// Pixels per point of the images; 1 unless set.
    public var scale: Double
    /// The limit of width and height, in pixels: larger images are scaled down to it, keeping their ratio,
    /// and smaller ones stay as they are. `nil`, unless set: the size that is stored.
    public var maximumPixelSize: Int?
    /// The limits of pixels, memory and time.
    public var limits: ImageDecodingLimits

    /// A decoder for images in the size that is stored, unless a limit is given.
    public init(
        scale: Double = 1,
        maximumPixelSize: Int? = nil,
        limits: ImageDecodingLimits = ImageDecodingLimits()
    ) {
        self.scale = scale
        self.maximumPixelSize = maximumPixelSize
        self.limits = limits
    }

    /// The identifier of its images in an ``ImageDownloader``'s cache: one URL has other pixels in another
    /// size. `nil` for images in the size that is stored, with one pixel per point.
    public var cacheIdentifier: String? {
        guard scale != 1 || maximumPixelSize != nil else { return nil }
        return "maximumPixelSize=\(maximumPixelSize.map { "\($0)" } ?? "none") scale=\(scale)"
    }

    /// The pixels of a whole image. Blocks the thread for the time of decoding.
    ///
    /// - Throws: ``ImageDecodingError``; `ResponseSerializationError` for data that is no image.
    public func image(from data: Data) throws -> DecodedImage {
        var serializer = ImageHeadResponseSerializer()
        serializer.acceptableContentTypes = nil
        guard let head = try serializer.responseObject(for: nil, data: data) as? ResponseImage else {
            throw ImageDecodingError.malformed(.png, "It is empty.")
        }
        return try image(of: head)
    }

    /// The pixels of an image whose head was read. Blocks the thread for the time of decoding.
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
        else { throw ImageDecodingError.decoderFailed("its answer has another size than it says") }
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
            .decoderUnavailable("the library is in a plug-in, and not in the program or a library of it")
        }
    }
}
