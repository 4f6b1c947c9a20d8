internal import OperationNetworking

/// The limits for decoding an image.
///
/// | Limit                 | Checked                                                         |
/// |-----------------------|-----------------------------------------------------------------|
/// | ``maximumPixelCount`` | before decoding, in the image's first bytes; and by the decoder |
/// | ``maximumMemory``     | by the kernel, in the decoding process                          |
/// | ``maximumDuration``   | by a timer, which terminates the decoding process               |
public struct ImageDecodingLimits: Hashable, Codable, Sendable {
    /// The maximum number of stored pixels, even if the image is scaled down. Defaults to 2^26 (67 million,
    /// or 8,192 x 8,192), which decode to 256 MiB.
    public var maximumPixelCount: Int
    /// The maximum memory, in bytes, of the decoding process, including the result. Defaults to 1 GiB.
    public var maximumMemory: Int
    /// The maximum time, in seconds, for decoding, without the wait for a free decoder. Defaults to 10.
    /// Values above a day count as a day, and NaN as 0.
    public var maximumDuration: Double {
        get { duration.value }
        set { duration.value = newValue }
    }
    private var duration: CodedDouble

    /// Creates limits, by default suitable for photos.
    public init(
        maximumPixelCount: Int = 1 << 26,
        maximumMemory: Int = 1 << 30,
        maximumDuration: Double = 10
    ) {
        self.maximumPixelCount = maximumPixelCount
        self.maximumMemory = maximumMemory
        duration = CodedDouble(maximumDuration)
    }
}
