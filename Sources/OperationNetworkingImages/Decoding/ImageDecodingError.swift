public import Foundation
public import OperationNetworking

/// Why a received image could not be decoded.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum ImageDecodingError: Error, Hashable, Sendable {
    /// The format is not supported.
    case unsupportedFormat(ResponseImage.Format)
    /// The image has more pixels than ``ImageDecodingLimits/maximumPixelCount``. It was not decoded.
    case tooManyPixels(width: Int, height: Int, limit: Int)
    /// The image is broken or truncated; the message of the decoder or the library.
    case malformed(ResponseImage.Format, String)
    /// Decoding exceeded ``ImageDecodingLimits/maximumDuration``, in seconds, and was terminated.
    case timeLimitExceeded(Double)
    /// Decoding needed more than ``ImageDecodingLimits/maximumMemory``, in bytes.
    case memoryLimitExceeded(Int)
    /// The decoding process ended: the image crashed the decoder, or used up its memory. The message says how
    /// it ended.
    case decoderFailed(String)
    /// There is no decoder, or none for this format; the message says what to install.
    case decoderUnavailable(String)
}

// MARK: - CustomStringConvertible

extension ImageDecodingError: CustomStringConvertible {
    /// One sentence, with the numbers.
    public var description: String {
        switch self {
        case .unsupportedFormat(let format):
            "The image format \(format.rawValue) is not supported."
        case .tooManyPixels(let width, let height, let limit):
            "The image has \(width) x \(height) pixels, more than the limit of \(limit)."
        case .malformed(let format, let sentence):
            "The \(format.rawValue) image is broken: \(sentence)"
        case .timeLimitExceeded(let seconds):
            "Decoding the image took longer than \(seconds) seconds and was terminated."
        case .memoryLimitExceeded(let bytes):
            "Decoding the image needs more memory than the limit of \(bytes) bytes."
        case .decoderFailed(let sentence):
            "The decoding process ended: \(sentence)."
        case .decoderUnavailable(let sentence):
            "No decoder is available for the image: \(sentence)."
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

    /// ``description`` under `NSLocalizedDescriptionKey`.
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }
}
