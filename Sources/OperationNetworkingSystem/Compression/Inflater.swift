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
    /// The bytes that came, of which those before `position` are inflated.
    private var input: [UInt8] = []
    private var position = 0
    /// The output was full: zlib may have more.
    private var mayHaveMore = false

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

    /// Whether there is something that ``step(_:)`` has not inflated.
    var hasRest: Bool { position < input.count || mayHaveMore }

    /// Takes the next piece, which ``step(_:)`` inflates.
    func append(_ bytes: Span<UInt8>) {
        input.append(bytes)
    }

    /// Inflates a part of that; `body` gets the outcome, at most 64 KiB.
    func step(_ body: (Span<UInt8>) throws -> Void) throws {
        defer { forgetInflated() }
        if !isOpen {
            guard let first = input.first else { return }
            try open(firstByte: first)
        }
        if isAtEnd {
            while position < input.count, try !isNextMember(input[position]) { position += 1 }
            guard position < input.count else { return }
            inflateReset(stream)
            isAtEnd = false
        }
        let (code, count) = inflateOnce()
        mayHaveMore = code != Z_STREAM_END && count == output.count
        if count > 0 { try body(UnsafeBufferPointer(rebasing: output[..<count]).span) }
        switch code {
        case Z_STREAM_END:
            isAtEnd = true
        case Z_OK, Z_BUF_ERROR:
            break
        default:
            throw ContentDecodingFailure.malformed(
                stream.pointee.msg.map { String(cString: $0) } ?? "zlib error \(code)"
            )
        }
    }

    private func inflateOnce() -> (code: Int32, count: Int) {
        input.withUnsafeBufferPointer { input in
            let rest = UnsafeBufferPointer(rebasing: input[position...])
            // zlib's interface lacks const; it does not write to its input (zlib.h).
            stream.pointee.next_in = UnsafeMutablePointer(mutating: rest.baseAddress)
            stream.pointee.avail_in = UInt32(rest.count)
            stream.pointee.next_out = output.baseAddress
            stream.pointee.avail_out = UInt32(output.count)
            let code = inflate(stream, Z_NO_FLUSH)
            position = input.count - Int(stream.pointee.avail_in)
            return (code, output.count - Int(stream.pointee.avail_out))
        }
    }

    private func forgetInflated() {
        guard position == input.count else { return }
        input.removeAll(keepingCapacity: true)
        position = 0
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
