import Foundation

/// Undoes the content codings of a body ([RFC 9110 §8.4](https://www.rfc-editor.org/rfc/rfc9110#section-8.4))
/// piece by piece, and records whether the coded data was complete.
///
/// libcurl could decode by itself, but treats a truncated stream as complete.
package final class ContentDecoder {
    /// The value of `Accept-Encoding` for the supported codings.
    package static let acceptEncoding = "gzip, deflate, br, zstd"

    /// A server that applied more codings than these is not understood: each multiplies the work that a byte
    /// makes.
    private static let maximumLayers = 4

    /// The coding that was applied last, and so comes off first, is the first.
    private let layers: [DecodingLayer]
    /// Bytes that each layer has made.
    private var lengths: [Int64]

    /// - Parameter contentEncoding: the field's value: the codings in the order in which they were applied,
    ///   without regard to case. `identity` and `none` change nothing. `nil` is returned when one is not
    ///   known here, and when none is left.
    package init?(contentEncoding: String) {
        var layers: [DecodingLayer] = []
        for coding in contentEncoding.split(separator: ",") {
            switch coding.trimmingCharacters(in: .whitespaces).lowercased() {
            case "gzip", "x-gzip": layers.append(DecodingLayer(ZlibDecoder(.gzip)))
            case "deflate": layers.append(DecodingLayer(ZlibDecoder(.deflate)))
            case "br": layers.append(DecodingLayer(BrotliDecoder()))
            case "zstd": layers.append(DecodingLayer(ZstdDecoder()))
            case "identity", "none", "": break
            default: return nil
            }
            guard layers.count <= Self.maximumLayers else { return nil }
        }
        guard !layers.isEmpty else { return nil }
        self.layers = layers.reversed()
        lengths = layers.map { _ in 0 }
    }

    /// Takes the next piece, as it came. ``decode(atMost:checking:_:)`` decodes it.
    package func append(_ bytes: Span<UInt8>) {
        layers[0].append(bytes)
    }

    /// Decodes what was taken, or a part of it: a few bytes can stand for gigabytes.
    ///
    /// - Parameters:
    ///   - budget: the bytes that all layers together make, and 64 KiB more, before the rest is left for
    ///     another call.
    ///   - check: gets the bytes that a layer has made so far, before they are used: what it throws ends the
    ///     work.
    ///   - body: gets what came out of the last layer, in pieces of at most 64 KiB.
    /// - Returns: whether nothing is left.
    /// - Throws: `ContentDecodingFailure`, and what the closures throw.
    package func decode(
        atMost budget: Int,
        checking check: (Int64) throws -> Void = { _ in },
        _ body: (Span<UInt8>) throws -> Void
    ) throws -> Bool {
        var made = 0
        // The innermost first, so that none has more than a piece to wait.
        while let index = layers.lastIndex(where: \.hasRest) {
            guard made < budget else { return false }
            try layers[index].step { piece in
                made += piece.count
                lengths[index] += Int64(piece.count)
                try check(lengths[index])
                if index == layers.count - 1 { try body(piece) } else { layers[index + 1].append(piece) }
            }
        }
        return true
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
