internal import OperationNetworking

/// The limits of decoding one image.
///
/// | Limit                | Checked                                                                        |
/// |----------------------|--------------------------------------------------------------------------------|
/// | ``maximumPixelCount``| in the image's first bytes, before a decoder sees it; by the decoder, when it has found the size |
/// | ``maximumMemory``    | by the kernel, in the process that decodes                                     |
/// | ``maximumDuration``  | by the clock, which ends the process that decodes                              |
public struct ImageDecodingLimits: Hashable, Sendable {
    /// The pixels of the image as stored, also where it is scaled down. 2^26 unless set, 67 million: 8,192 x
    /// 8,192, which is a result of 256 MiB.
    public var maximumPixelCount: Int
    /// The memory, in bytes, that decoding may take in its process, the result included; 1 GiB unless set.
    public var maximumMemory: Int
    /// The seconds that decoding may take; 10 unless set. The wait for a free decoder does not count.
    /// More than a day counts as a day, and what is no number as 0.
    public var maximumDuration: Double

    /// Limits for images of the size that cameras make.
    public init(
        maximumPixelCount: Int = 1 << 26,
        maximumMemory: Int = 1 << 30,
        maximumDuration: Double = 10
    ) {
        self.maximumPixelCount = maximumPixelCount
        self.maximumMemory = maximumMemory
        self.maximumDuration = maximumDuration
    }
}

extension ImageDecodingLimits: Codable {
    private enum CodingKeys: CodingKey {
        case maximumPixelCount, maximumMemory, maximumDuration
    }

    /// Comes back from ``encode(to:)``.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        maximumPixelCount = try values.decode(Int.self, forKey: .maximumPixelCount)
        maximumMemory = try values.decode(Int.self, forKey: .maximumMemory)
        maximumDuration = try values.decode(ArchivedSeconds.self, forKey: .maximumDuration).value
    }

    /// All limits; an infinite duration as text.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(maximumPixelCount, forKey: .maximumPixelCount)
        try values.encode(maximumMemory, forKey: .maximumMemory)
        try values.encode(ArchivedSeconds(maximumDuration), forKey: .maximumDuration)
    }
}
