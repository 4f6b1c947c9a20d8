import COperationNetworking

/// The library of one content coding. A ``DecodingLayer`` feeds it, and judges its end.
///
/// An object, for the state of the library has one address. Used on one thread at a time.
protocol StreamDecoder: AnyObject {
    /// Whether a body may be several streams, one behind the other.
    var isRepeatable: Bool { get }

    /// Prepares for a stream, the first one or another.
    ///
    /// - Parameter octet: its first octet, which ``decode(_:into:)`` gets as well.
    /// - Throws: `ContentDecodingFailure` if no stream begins with it, or for want of memory.
    func start(with octet: UInt8) throws(ContentDecodingFailure)

    /// Decodes as much as there is, and has room in `output`.
    ///
    /// - Throws: `ContentDecodingFailure` for octets that are not in the coding.
    func decode(
        _ input: UnsafeBufferPointer<UInt8>,
        into output: UnsafeMutableBufferPointer<UInt8>
    ) throws(ContentDecodingFailure) -> DecodingProgress
}

/// The outcome of a call of a ``StreamDecoder``.
struct DecodingProgress {
    /// Octets that were taken from the input.
    var consumed: Int
    /// Octets that were written.
    var produced: Int
    /// Whether the stream ended behind what was consumed, and all of it was written.
    var isAtEnd: Bool
}

// MARK: - gzip, deflate

/// zlib: gzip ([RFC 1952](https://www.rfc-editor.org/rfc/rfc1952), of several members), and deflate.
final class ZlibDecoder: StreamDecoder {
    enum Format {
        case gzip
        case deflate
    }

    private let format: Format
    private let stream: UnsafeMutablePointer<z_stream>
    private var isOpen = false

    init(_ format: Format) {
        self.format = format
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
    }

    deinit {
        if isOpen { inflateEnd(stream) }
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    var isRepeatable: Bool { format == .gzip }

    /// "deflate" means the zlib format ([RFC 9110 §8.4.1.2](https://www.rfc-editor.org/rfc/rfc9110#section-8.4.1.2)),
    /// but raw deflate is seen in the wild. The first octet decides: the zlib format begins with a method
    /// nibble of 8.
    func start(with octet: UInt8) throws(ContentDecodingFailure) {
        if isOpen {
            inflateReset(stream)
            return
        }
        let windowBits: Int32 =
            switch format {
            case .gzip: 31
            case .deflate: octet & 0x0f == 8 ? 15 : -15
            }
        guard cinflate_init(stream, windowBits) == Z_OK else {
            throw .malformed("zlib is out of memory")
        }
        isOpen = true
    }

    func decode(
        _ input: UnsafeBufferPointer<UInt8>,
        into output: UnsafeMutableBufferPointer<UInt8>
    ) throws(ContentDecodingFailure) -> DecodingProgress {
        // zlib's interface lacks const; it does not write to its input (zlib.h).
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
        stream.pointee.avail_in = UInt32(input.count)
        stream.pointee.next_out = output.baseAddress
        stream.pointee.avail_out = UInt32(output.count)
        let code = inflate(stream, Z_NO_FLUSH)
        guard [Z_OK, Z_BUF_ERROR, Z_STREAM_END].contains(code) else {
            throw .malformed(stream.pointee.msg.map { String(cString: $0) } ?? "zlib error \(code)")
        }
        return DecodingProgress(
            consumed: input.count - Int(stream.pointee.avail_in),
            produced: output.count - Int(stream.pointee.avail_out),
            isAtEnd: code == Z_STREAM_END
        )
    }
}

// MARK: - br

/// libbrotlidec: [RFC 7932](https://www.rfc-editor.org/rfc/rfc7932), one stream. Its window has at most
/// 16 MiB, since larger windows than the RFC's are not enabled.
final class BrotliDecoder: StreamDecoder {
    private var state: OpaquePointer?

    deinit {
        BrotliDecoderDestroyInstance(state)
    }

    var isRepeatable: Bool { false }

    func start(with octet: UInt8) throws(ContentDecodingFailure) {
        state = BrotliDecoderCreateInstance(nil, nil, nil)
        guard state != nil else { throw .malformed("libbrotlidec is out of memory") }
    }

    func decode(
        _ input: UnsafeBufferPointer<UInt8>,
        into output: UnsafeMutableBufferPointer<UInt8>
    ) throws(ContentDecodingFailure) -> DecodingProgress {
        var next = input.baseAddress
        var inputLeft = input.count
        var room = output.baseAddress
        var roomLeft = output.count
        let result = BrotliDecoderDecompressStream(state, &inputLeft, &next, &roomLeft, &room, nil)
        guard result != BROTLI_DECODER_RESULT_ERROR else {
            let code = BrotliDecoderGetErrorCode(state)
            throw .malformed(String(cString: BrotliDecoderErrorString(code)))
        }
        return DecodingProgress(
            consumed: input.count - inputLeft,
            produced: output.count - roomLeft,
            isAtEnd: result == BROTLI_DECODER_RESULT_SUCCESS
        )
    }
}

// MARK: - zstd

/// libzstd: [RFC 8878](https://www.rfc-editor.org/rfc/rfc8878), any number of frames.
///
/// The window, which a transfer keeps in memory, has at most 8 MiB: no server may require more with this
/// content coding ([RFC 9659 §3](https://www.rfc-editor.org/rfc/rfc9659#section-3)).
final class ZstdDecoder: StreamDecoder {
    /// 2^23 octets.
    private static let maximumWindowLog: Int32 = 23

    private var context: OpaquePointer?

    deinit {
        ZSTD_freeDCtx(context)
    }

    var isRepeatable: Bool { true }

    /// A frame begins with 28, a skippable one with 50 to 5F. Formats from before the RFC, which libzstd may
    /// read as well, begin otherwise.
    func start(with octet: UInt8) throws(ContentDecodingFailure) {
        guard octet == 0x28 || octet & 0xF0 == 0x50 else { throw .malformed("not a Zstandard frame") }
        guard context == nil else { return }
        context = ZSTD_createDCtx()
        guard context != nil else { throw .malformed("libzstd is out of memory") }
        ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Self.maximumWindowLog)
    }

    func decode(
        _ input: UnsafeBufferPointer<UInt8>,
        into output: UnsafeMutableBufferPointer<UInt8>
    ) throws(ContentDecodingFailure) -> DecodingProgress {
        var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
        var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        let code = ZSTD_decompressStream(context, &target, &source)
        guard ZSTD_isError(code) == 0 else {
            throw .malformed(String(cString: ZSTD_getErrorName(code)))
        }
        return DecodingProgress(consumed: source.pos, produced: target.pos, isAtEnd: code == 0)
    }
}
