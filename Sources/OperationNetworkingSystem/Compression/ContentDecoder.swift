import Foundation

/// Undoes the content codings of a body ([RFC 9110 §8.4](https://www.rfc-editor.org/rfc/rfc9110#section-8.4))
/// piece by piece, and knows whether the coded data was complete.
///
/// libcurl could decode by itself, but takes a gzip stream that breaks off for a whole one.
package final class ContentDecoder {
    /// The value of `Accept-Encoding` that asks for what can be decoded here.
    package static let acceptEncoding = "gzip, deflate"

    /// A server that applied more codings than these is not understood: each multiplies the work that a byte
    /// makes.
    private static let maximumLayers = 4

    /// The coding that was applied last, and so comes off first, is the first.
    private let layers: [Inflater]
    /// Bytes that each layer has made.
    private var lengths: [Int64]

    /// - Parameter contentEncoding: the field's value: the codings in the order in which they were applied,
    ///   without regard to case. `identity` and `none` change nothing. `nil` is returned when one is not
    ///   known here, and when none is left.
    package init?(contentEncoding: String) {
        var layers: [Inflater] = []
        for coding in contentEncoding.split(separator: ",") {
            switch coding.trimmingCharacters(in: .whitespaces).lowercased() {
            case "gzip", "x-gzip": layers.append(Inflater(.gzip))
            case "deflate": layers.append(Inflater(.deflate))
            case "identity", "none", "": break
            default: return nil
            }
            guard layers.count <= Self.maximumLayers else { return nil }
        }
        guard !layers.isEmpty else { return nil }
        self.layers = layers.reversed()
        lengths = layers.map { _ in 0 }
    }

    /// Decodes the next piece.
    ///
    /// - Parameters:
    ///   - bytes: the piece, as it came.
    ///   - check: gets the bytes that a layer has made so far, before they are used: what it throws ends the
    ///     work.
    ///   - body: gets what came out of the last layer, in pieces of at most 64 KiB.
    /// - Throws: `ContentDecodingFailure`, and what the closures throw.
    package func decode(
        _ bytes: Span<UInt8>,
        checking check: (Int64) throws -> Void = { _ in },
        _ body: (Span<UInt8>) throws -> Void
    ) throws {
        try decode(bytes, from: 0, check, body)
    }

    private func decode(
        _ bytes: Span<UInt8>,
        from index: Int,
        _ check: (Int64) throws -> Void,
        _ body: (Span<UInt8>) throws -> Void
    ) throws {
        try layers[index].decode(bytes) { piece in
            lengths[index] += Int64(piece.count)
            try check(lengths[index])
            if index == layers.count - 1 {
                try body(piece)
            } else {
                try decode(piece, from: index + 1, check, body)
            }
        }
    }

    /// Says that the body has ended. An empty body is complete in every coding; one that is empty only inside
    /// its outer coding lacks the inner one.
    package func finish() throws {
        for layer in layers {
            guard layer.hasBegun || layers[0].hasBegun == false else {
                throw ContentDecodingFailure.truncated
            }
            try layer.finish()
        }
    }
}
