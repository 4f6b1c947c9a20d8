public import Foundation
public import FoundationNetworking

/// A serializer that returns the body as a ``ResponseImage``, with the format and size found in the bytes
/// rather than in `Content-Type`.
///
/// | Response                                  | Result                                                  |
/// |-------------------------------------------|---------------------------------------------------------|
/// | acceptable, an image                      | the ``ResponseImage``                                   |
/// | acceptable, an image of another type      | the ``ResponseImage``: the bytes decide                 |
/// | empty body                                | `nil`                                                   |
/// | unacceptable media type                   | an error; the body is not read                          |
/// | body that is not an image, or ends before its size | an error                                       |
/// | unacceptable status, an image             | the error for the status, with the image as its `responseObject` |
/// | unacceptable status, anything else        | the error for the status                                |
///
/// Only the beginning of the body is checked. A decoder has to check whether the pixels are present and
/// valid.
public struct ImageHeadResponseSerializer:
    ValidatingResponseSerializer, MessageSerializer, Hashable, ArchivableResponseSerializer
{
    /// The validation. Defaults to 200 to 299 and these types. From AFNetworking: `image/tiff`, `image/jpeg`,
    /// `image/gif`, `image/png`, `image/ico`, `image/x-icon`, `image/bmp`, `image/x-bmp`, `image/x-xbitmap`
    /// and `image/x-win-bitmap`. In addition: `image/apng`, `image/avif`, `image/heic`,
    /// `image/heic-sequence`, `image/heif`, `image/heif-sequence`, `image/vnd.microsoft.icon`, `image/webp`,
    /// `image/x-ms-bmp` and `image/x-xbm`.
    public var validation = HTTPResponseSerializer(acceptableContentTypes: [
        // AFNetworking's.
        "image/tiff", "image/jpeg", "image/gif", "image/png", "image/ico", "image/x-icon", "image/bmp",
        "image/x-bmp", "image/x-xbitmap", "image/x-win-bitmap",
        // Added.
        "image/apng", "image/avif", "image/heic", "image/heic-sequence", "image/heif", "image/heif-sequence",
        "image/vnd.microsoft.icon", "image/webp", "image/x-ms-bmp", "image/x-xbm",
    ])

    /// The pixels per point of the images. This is AFNetworking's `imageScale`, which defaulted to that of
    /// the screen. Defaults to 1, which also replaces a value that is not a positive number.
    public var scale: Double

    /// Creates a serializer that accepts 200 to 299 and the media types of ``acceptableContentTypes``.
    public init(scale: Double = 1) {
        self.scale = scale
    }

    // MARK: - ResponseSerializer

    /// Returns the image of an acceptable response.
    ///
    /// - Parameters:
    ///   - response: the head.
    ///   - data: the whole body.
    /// - Returns: a ``ResponseImage``; `nil` for an empty body.
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

    /// Always: only the beginning is read.
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
