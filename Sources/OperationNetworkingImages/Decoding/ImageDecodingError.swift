public import Foundation
public import OperationNetworking

/// Why an image that arrived has no pixels.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum ImageDecodingError: Error, Hashable, Sendable {
    /// An image that is not of a format that is decoded here.
    case unsupportedFormat(ResponseImage.Format)
    /// An image that has more pixels than ``ImageDecodingLimits/maximumPixelCount``. It was not decoded.
    case tooManyPixels(width: Int, height: Int, limit: Int)
    /// An image that is broken, or was cut; the decoder's sentence, or this library's.
    case malformed(ResponseImage.Format, String)
    /// Decoding took longer than ``ImageDecodingLimits/maximumDuration``, in seconds, and was ended.
    case timeLimitExceeded(Double)
    /// Decoding needed more than ``ImageDecodingLimits/maximumMemory``, in bytes.
    case memoryLimitExceeded(Int)
    /// The process that decoded it ended: the image made its decoder fail, or used up its memory. The
    /// sentence says how it ended.
    case decoderFailed(String)
    /// There is no decoder, or none for this format; the sentence says what to install.
    case decoderUnavailable(String)
}

// MARK: - CustomStringConvertible

extension ImageDecodingError: CustomStringConvertible {
    /// One sentence, with the numbers.
    public var description: String {
        switch self {
        case .unsupportedFormat(let format):
            "Images of the format \(format.rawValue) are not decoded."
        case .tooManyPixels(let width, let height, let limit):
            "The image has \(width) x \(height) pixels, more than the limit of \(limit)."
        case .malformed(let format, let sentence):
            "The \(format.rawValue) image is broken: \(sentence)"
        case .timeLimitExceeded(let seconds):
            "Decoding the image took longer than \(seconds) seconds, and was ended."
        case .memoryLimitExceeded(let bytes):
            "Decoding the image needs more memory than the limit of \(bytes) bytes."
        case .decoderFailed(let sentence):
            "The process that decoded the image ended: \(sentence)."
        case .decoderUnavailable(let sentence):
            "There is no decoder for the image: \(sentence)."
        }
    }
}

// MARK: - LocalizedError, CustomNSError

extension ImageDecodingError: LocalizedError, CustomNSError {
    /// The domain of AFNetworking's errors of response serializers.
    public static var errorDomain: String { ResponseSerializationError.errorDomain }

    /// -1016, `URLError.Code.cannotDecodeContentData`.
    public var errorCode: Int { URLError.Code.cannotDecodeContentData.rawValue }

    /// The same as ``description``.
    public var errorDescription: String? { description }

    /// The sentence.
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }
}
