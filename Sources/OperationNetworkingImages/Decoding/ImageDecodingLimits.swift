internal import OperationNetworking

/// The limits of decoding one image.
///
/// | Limit                | Checked                                                                        |
/// |----------------------|--------------------------------------------------------------------------------|
/// | ``maximumPixelCount``| in the image's first bytes, before a decoder sees it; by the decoder, when it has found the size |
/// | ``maximumMemory``    | by the kernel, in the process that decodes                                     |
/// | ``maximumDuration``  | by the clock, which ends the process that decodes                              |
public struct ImageDecodingLimits: Hashable, Codable, Sendable {
    /// The pixels of the image as stored, also where it is scaled down. 2^26 unless set, 67 million: 8,192 x
    /// 8,192, which is a result of 256 MiB.
    public var maximumPixelCount: Int
    /// The memory, in bytes, that decoding may take in its process, the result included; 1 GiB unless set.
    public var maximumMemory: Int
    /// The seconds that decoding may take; 10 unless set. The wait for a free decoder does not count.
    /// More than a day counts as a day, and what is no number as 0.
    public var maximumDuration: Double {
        get { duration.value }
        set { duration.value = newValue }
    }
    private var duration: CodedDouble

    /// Limits for images of the size that cameras make.
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
