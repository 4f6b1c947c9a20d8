/// Undoes one content coding of a body piece by piece, and records whether its stream was complete.
final class DecodingLayer {
    private let decoder: any StreamDecoder
    private let output: UnsafeMutableBufferPointer<UInt8>
    private(set) var hasBegun = false
    /// Whether a stream has ended, and no other one has begun.
    private var isAtEnd = false
    /// Whether zeros came after the end.
    private var isPadded = false
    /// The bytes that came, of which those before `position` are decoded.
    private var input: [UInt8] = []
    private var position = 0
    /// Whether the output was full: the decoder may have more.
    private var mayHaveMore = false

    init(_ decoder: any StreamDecoder) {
        self.decoder = decoder
        output = .allocate(capacity: 64 * 1024)
    }

    deinit {
        output.deallocate()
    }

    /// Whether there is something that ``step(_:)`` has not decoded.
    var hasRest: Bool { position < input.count || mayHaveMore }

    /// Takes the next piece, which ``step(_:)`` decodes.
    func append(_ bytes: Span<UInt8>) {
        input.append(bytes)
    }

    /// Decodes a part of that; `body` gets the outcome, at most 64 KiB.
    func step(_ body: (Span<UInt8>) throws -> Void) throws {
        defer { forgetDecoded() }
        if isAtEnd { skipPadding() }
        if isAtEnd || !hasBegun {
            guard position < input.count else { return }
            guard !isAtEnd || (decoder.isRepeatable && !isPadded) else {
                throw ContentDecodingFailure.malformed("data after its end")
            }
            try decoder.start(with: input[position])
            hasBegun = true
            isAtEnd = false
        }
        let progress = try input.withUnsafeBufferPointer { input throws(ContentDecodingFailure) in
            try decoder.decode(UnsafeBufferPointer(rebasing: input[position...]), into: output)
        }
        position += progress.consumed
        isAtEnd = progress.isAtEnd
        mayHaveMore = !isAtEnd && progress.produced == output.count
        guard progress.produced > 0 else { return }
        try body(UnsafeBufferPointer(rebasing: output[..<progress.produced]).span)
    }

    /// Says that no more comes. No bytes at all are a complete body in each coding.
    func finish() throws {
        guard !hasBegun || isAtEnd else { throw ContentDecodingFailure.truncated }
    }

    /// Zeros behind the end are padding, as for gzip(1). Anything else is another stream, or was not meant to
    /// be there.
    private func skipPadding() {
        while position < input.count, input[position] == 0 {
            isPadded = true
            position += 1
        }
    }

    private func forgetDecoded() {
        guard position == input.count else { return }
        input.removeAll(keepingCapacity: true)
        position = 0
    }
}
