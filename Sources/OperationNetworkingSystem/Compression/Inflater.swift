import COperationNetworking
import Foundation

/// Undoes one gzip or deflate layer of a body with zlib, and knows whether the layer was complete.
final class Inflater {
    enum Format {
        case gzip
        case deflate
    }

    private let format: Format
    private var stream: UnsafeMutablePointer<z_stream>
    private var isOpen = false
    private var isAtEnd = false
    /// Zeros came after the end.
    private var isPadded = false
    private let output: UnsafeMutableBufferPointer<UInt8>

    init(_ format: Format) {
        self.format = format
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        output = .allocate(capacity: 64 * 1024)
    }

    deinit {
        if isOpen { inflateEnd(stream) }
        stream.deinitialize(count: 1)
        stream.deallocate()
        output.deallocate()
    }

    /// Whether a byte has come.
    var hasBegun: Bool { isOpen }

    /// Inflates the next piece; `body` gets what came out of it, in pieces of at most 64 KiB.
    func decode(_ bytes: Span<UInt8>, _ body: (Span<UInt8>) throws -> Void) throws {
        try bytes.withUnsafeBufferPointer { input in
            guard let first = input.first else { return }
            if !isOpen { try open(firstByte: first) }
            // zlib's interface lacks const; it does not write to its input (zlib.h).
            stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            stream.pointee.avail_in = UInt32(input.count)
            while stream.pointee.avail_in > 0 {
                if isAtEnd {
                    guard try isNextMember(stream.pointee.next_in.pointee) else {
                        stream.pointee.next_in += 1
                        stream.pointee.avail_in -= 1
                        continue
                    }
                    inflateReset(stream)
                    isAtEnd = false
                }
                try inflateOnce(body)
            }
        }
    }

    /// Says that no more comes. No bytes at all are a complete body in each format.
    func finish() throws {
        guard !isOpen || isAtEnd else { throw ContentDecodingFailure.truncated }
    }

    /// Only gzip allows another member after the first (RFC 1952 section 2.2). Zeros are padding, as for
    /// gzip(1); anything else was not meant to be there.
    private func isNextMember(_ byte: UInt8) throws -> Bool {
        if byte == 0 {
            isPadded = true
            return false
        }
        guard format == .gzip, byte == 0x1f, !isPadded else {
            throw ContentDecodingFailure.malformed("data after its end")
        }
        return true
    }

    private func inflateOnce(_ body: (Span<UInt8>) throws -> Void) throws {
        repeat {
            stream.pointee.next_out = output.baseAddress
            stream.pointee.avail_out = UInt32(output.count)
            let code = inflate(stream, Z_NO_FLUSH)
            let count = output.count - Int(stream.pointee.avail_out)
            if count > 0 { try body(UnsafeBufferPointer(rebasing: output[..<count]).span) }
            switch code {
            case Z_STREAM_END:
                isAtEnd = true
                return
            case Z_OK, Z_BUF_ERROR:
                break
            default:
                throw ContentDecodingFailure.malformed(
                    stream.pointee.msg.map { String(cString: $0) } ?? "zlib error \(code)"
                )
            }
        } while stream.pointee.avail_out == 0
    }

    /// "deflate" means the zlib format (RFC 9110 §8.4.1.2), but raw deflate is seen in the wild. The first
    /// byte decides: the zlib format begins with a method nibble of 8.
    private func open(firstByte: UInt8) throws {
        let windowBits: Int32 =
            switch format {
            case .gzip: 31
            case .deflate: firstByte & 0x0f == 8 ? 15 : -15
            }
        guard cinflate_init(stream, windowBits) == Z_OK else {
            throw ContentDecodingFailure.malformed("zlib has no memory")
        }
        isOpen = true
    }
}
