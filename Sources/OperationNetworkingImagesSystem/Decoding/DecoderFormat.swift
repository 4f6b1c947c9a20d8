internal import COperationNetworkingImages

/// A format that decoder processes support, in the order of the numbers in the C header.
package enum DecoderFormat: UInt32, Hashable, Sendable, CaseIterable {
    case png, jpeg, gif, webp, bmp, tiff, ico
}
