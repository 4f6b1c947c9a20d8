public import Foundation
public import FoundationNetworking
public import OperationNetworking

/// The body as a ``DecodedImage``: PNG, JPEG, GIF, WebP, BMP, TIFF and ICO.
///
/// | Response                                  | Result                                                  |
/// |-------------------------------------------|---------------------------------------------------------|
/// | acceptable, an image                      | the ``DecodedImage``                                    |
/// | acceptable, an image of another type      | the ``DecodedImage``: the bytes are right               |
/// | empty body                                | `nil`                                                   |
/// | unacceptable media type                   | an error; the body is not looked at                     |
/// | body that is no image                     | a `ResponseSerializationError`                          |
/// | image over the limits, broken, cut, or of another format | an ``ImageDecodingError``                |
/// | unacceptable status, an image             | the error for the status; its `responseObject` is the `ResponseImage`, not decoded |
///
/// It decodes in a process of its own, see ``ImageDecoder``, and waits for it on a queue of its own: other
/// operations wait for no image.
///
/// Archives of operations and managers keep it; a later process calls `registerForArchives()` before it
/// decodes one.
public struct ImageResponseSerializer: ValidatingResponseSerializer, QueuedResponseSerializer, Hashable,
    ArchivableResponseSerializer
{
    /// 200 to 299 unless set, and these types. AFNetworking's but the one of X bitmaps: `image/tiff`,
    /// `image/jpeg`, `image/gif`, `image/png`, `image/ico`, `image/x-icon`, `image/bmp`, `image/x-bmp` and
    /// `image/x-win-bitmap`. In addition: `image/apng`, `image/vnd.microsoft.icon`, `image/webp` and
    /// `image/x-ms-bmp`.
    public var validation = HTTPResponseSerializer(acceptableContentTypes: [
        // AFNetworking's.
        "image/tiff", "image/jpeg", "image/gif", "image/png", "image/ico", "image/x-icon", "image/bmp",
        "image/x-bmp", "image/x-win-bitmap",
        // Added.
        "image/apng", "image/vnd.microsoft.icon", "image/webp", "image/x-ms-bmp",
    ])

    /// The size and the limits of decoding.
    public var decoder: ImageDecoder

    /// A serializer that accepts 200 to 299 and the media types of ``acceptableContentTypes``.
    public init(
        scale: Double = 1,
        maximumPixelSize: Int? = nil,
        limits: ImageDecodingLimits = ImageDecodingLimits()
    ) {
        decoder = ImageDecoder(scale: scale, maximumPixelSize: maximumPixelSize, limits: limits)
    }

    /// Pixels per point of the images: AFNetworking's `imageScale`, which was that of the screen. 1 unless
    /// set.
    public var scale: Double {
        get { decoder.scale }
        set { decoder.scale = newValue }
    }

    /// The limit of width and height, in pixels, to which larger images are scaled down; `nil`: none.
    public var maximumPixelSize: Int? {
        get { decoder.maximumPixelSize }
        set { decoder.maximumPixelSize = newValue }
    }

    /// As wide as there are decoder processes.
    public var processingQueue: ProcessingQueue? { DecoderPool.queue }

    // MARK: - ResponseSerializer

    /// The image of an acceptable response.
    ///
    /// - Parameters:
    ///   - response: the head.
    ///   - data: the whole body.
    /// - Returns: a ``DecodedImage``, `nil` for an empty body.
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
