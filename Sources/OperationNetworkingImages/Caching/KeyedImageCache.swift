/// A cache that keeps the images of different users apart: those of this library.
protocol KeyedImageCache: ImageRequestCache {
    func add(_ image: DecodedImage, _ key: ImageKey)
    func image(_ key: ImageKey) -> DecodedImage?
}

extension AutoPurgingImageCache: KeyedImageCache {}
extension ImageCache: KeyedImageCache {}
