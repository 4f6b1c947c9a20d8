public import Foundation
public import FoundationNetworking

/// The body as a ``ResponseImage``: format and size, found in the bytes and not in the `Content-Type`.
///
/// | Response                                  | Result                                                  |
/// |-------------------------------------------|---------------------------------------------------------|
/// | acceptable, an image                      | the ``ResponseImage``                                   |
/// | acceptable, an image of another type      | the ``ResponseImage``: the bytes are right              |
/// | empty body                                | `nil`                                                   |
/// | unacceptable media type                   | an error; the body is not looked at                     |
/// | body that is no image, or breaks off before its size | an error                                     |
/// | unacceptable status, an image             | the error for the status, with the image as its `responseObject` |
/// | unacceptable status, anything else        | the error for the status                                |
///
/// Only the beginning is judged: whether the pixels are there, and are sound, is for a decoder to say.
public struct ImageHeadResponseSerializer:
    ValidatingResponseSerializer, MessageSerializer, Hashable, ArchivableResponseSerializer
{
    /// 200 to 299 unless set, and these types. AFNetworking's: `image/tiff`, `image/jpeg`, `image/gif`,
    /// `image/png`, `image/ico`, `image/x-icon`, `image/bmp`, `image/x-bmp`, `image/x-xbitmap` and
    /// `image/x-win-bitmap`. In addition: `image/apng`, `image/avif`, `image/heic`, `image/heic-sequence`,
    /// `image/heif`, `image/heif-sequence`, `image/vnd.microsoft.icon`, `image/webp`, `image/x-ms-bmp` and
    /// `image/x-xbm`.
    public var validation = HTTPResponseSerializer(acceptableContentTypes: [
        // AFNetworking's.
        "image/tiff", "image/jpeg", "image/gif", "image/png", "image/ico", "image/x-icon", "image/bmp",
        "image/x-bmp", "image/x-xbitmap", "image/x-win-bitmap",
        // Added.
        "image/apng", "image/avif", "image/heic", "image/heic-sequence", "image/heif", "image/heif-sequence",
        "image/vnd.microsoft.icon", "image/webp", "image/x-ms-bmp", "image/x-xbm",
    ])

    /// Pixels per point of the images: AFNetworking's `imageScale`, which was that of the screen. 1 unless
    /// set; what is not a positive number counts as 1.
    public var scale: Double

    /// A serializer that accepts 200 to 299 and the media types of ``acceptableContentTypes``.
    public init(scale: Double = 1) {
        self.scale = scale
    }

    // MARK: - ResponseSerializer

    /// The image of an acceptable response.
    ///
    /// - Parameters:
    ///   - response: the head.
    ///   - data: the whole body.
    /// - Returns: a ``ResponseImage``, `nil` for an empty body.
    /// - Throws: ``ResponseSerializationError``.
    public func responseObject(for response: HTTPURLResponse?, data: Data?) throws -> (any Sendable)? {
        try responseObject(of: ReceivedMessage(response, data))
    }

    func responseObject(of message: ReceivedMessage) throws -> (any Sendable)? {
        do {
            try validation.validate(message)
        } catch {
            guard !error.concernsContentType, let data = message.data, let head = try? ImageHead(of: data)
            else {
                throw error
            }
            var error = error
            error.responseObject = image(of: data, head)
            throw error
        }
        guard let data = message.data, !data.isEmpty else { return nil }
        do {
            return image(of: data, try ImageHead(of: data))
        } catch {
            throw ResponseSerializationError(
                .malformedBody(.image, error.sentence),
                response: message.response,
                data: data
            )
        }
    }

    /// Only its beginning is looked at.
    func isQuick(byteCount: Int?) -> Bool { true }

    // MARK: - Private

    private func image(of data: Data, _ head: ImageHead) -> ResponseImage {
        ResponseImage(
            data: data,
            format: head.format,
            pixelWidth: head.width,
            pixelHeight: head.height,
            orientation: head.orientation,
            isAnimated: head.isAnimated,
            scale: scale > 0 && scale.isFinite ? scale : 1
        )
    }
}
