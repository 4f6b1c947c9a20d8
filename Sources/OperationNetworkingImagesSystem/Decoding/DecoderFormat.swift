internal import COperationNetworkingImages

/// A format that decoder processes know, in the order of the C header's numbers.
package enum DecoderFormat: UInt32, Hashable, Sendable, CaseIterable {
    case png, jpeg, gif, webp, bmp, tiff, ico
}
