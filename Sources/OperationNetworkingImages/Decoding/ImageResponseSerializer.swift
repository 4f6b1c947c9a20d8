public import Foundation
public import FoundationNetworking
public import OperationNetworking

/// Decodes the body as a ``DecodedImage``: PNG, JPEG, GIF, WebP, BMP, TIFF and ICO.
///
/// | Response                             | Result                                 |
/// |--------------------------------------|----------------------------------------|
/// | acceptable, an image                 | the ``DecodedImage``                   |
/// | acceptable, an image of another type | the ``DecodedImage``: the bytes decide |
/// | empty body                           | `nil`                                  |
/// | unacceptable media type              | an error; the body is not examined     |
/// | body that is not an image            | a `ResponseSerializationError`         |
/// | image that exceeds the limits, is broken or truncated, or has another format | an ``ImageDecodingError``              |
/// | unacceptable status, an image        | the error for the status; its `responseObject` is the `ResponseImage`, not decoded |
///
/// Images are decoded in a separate process (see ``ImageDecoder``), which is awaited on a separate queue, so
/// other operations do not wait for it.
///
/// Encoded in archives of operations and managers. A process must call `registerForArchives()` before it
/// decodes such an archive.
public struct ImageResponseSerializer: ValidatingResponseSerializer, QueuedResponseSerializer, Hashable,
    ArchivableResponseSerializer
{
    /// The acceptable statuses and media types. Defaults to 200 to 299, and to AFNetworking's types without X
    /// bitmaps: `image/tiff`, `image/jpeg`, `image/gif`, `image/png`, `image/ico`, `image/x-icon`,
    /// `image/bmp`, `image/x-bmp` and `image/x-win-bitmap`. Also `image/apng`, `image/vnd.microsoft.icon`,
    /// `image/webp` and `image/x-ms-bmp`.
    public var validation = HTTPResponseSerializer(acceptableContentTypes: [
        // AFNetworking's.
        "image/tiff", "image/jpeg", "image/gif", "image/png", "image/ico", "image/x-icon", "image/bmp",
        "image/x-bmp", "image/x-win-bitmap",
        // Added.
        "image/apng", "image/vnd.microsoft.icon", "image/webp", "image/x-ms-bmp",
    ])

    /// The decoder, with its size and limits.
    public var decoder: ImageDecoder

    /// Creates a serializer that accepts 200 to 299 and the default media types.
    public init(
        scale: Double = 1,
        maximumPixelSize: Int? = nil,
        limits: ImageDecodingLimits = ImageDecodingLimits()
    ) {
        decoder = ImageDecoder(scale: scale, maximumPixelSize: maximumPixelSize, limits: limits)
    }

    /// The pixels per point of the images: AFNetworking's `imageScale`, which was that of the screen.
    /// Defaults to 1.
    public var scale: Double {
        get { decoder.scale }
        set { decoder.scale = newValue }
    }

    /// The maximum width and height in pixels, to which larger images are scaled down. `nil` (the default)
    /// means no limit.
    public var maximumPixelSize: Int? {
        get { decoder.maximumPixelSize }
        set { decoder.maximumPixelSize = newValue }
    }

    /// A queue that is as wide as the number of decoder processes.
    public var processingQueue: ProcessingQueue? { DecoderPool.queue }

    // MARK: - ResponseSerializer

    /// Decodes the image of an acceptable response.
    ///
    /// - Parameters:
    ///   - response: the response head.
    ///   - data: the whole body.
    /// - Returns: a ``DecodedImage``; `nil` for an empty body.
    /// - Throws: `ResponseSerializationError`, or ``ImageDecodingError``.
    public func responseObject(for response: HTTPURLResponse?, data: Data?) throws -> (any Sendable)? {
        var heads = ImageHeadResponseSerializer(scale: scale)
        heads.validation = validation
        guard let head = try heads.responseObject(for: response, data: data) as? ResponseImage else {
            return nil
        }
        return try decoder.image(of: head)
    }
}
