// The example stands as the documentation has it:
// swift-format-ignore-file

import Foundation
import OperationNetworking
import OperationNetworkingImages

// Fetches an image as a thumbnail, and prints its size:
//
//     Images https://example.com/photo.jpeg

guard CommandLine.arguments.count == 2, let url = URL(string: CommandLine.arguments[1]) else {
    FileHandle.standardError.write(Data("usage: Images URL\n".utf8))
    exit(64)
}

do {
    // MARK: Example

    let manager = OperationManager()
    manager.responseSerializer = ImageResponseSerializer(maximumPixelSize: 256)
    let images = ImageDownloader(manager: manager, imageCache: AutoPurgingImageCache())

    let image = try await images.image(from: url)
    let pixels = image.pixels          // red, green, blue, alpha: image.bytesPerRow * image.pixelHeight bytes

    // MARK: End of example

    print("\(image.format) \(image.pixelWidth) x \(image.pixelHeight), \(pixels.count) bytes")
} catch {
    FileHandle.standardError.write(Data("\(url.absoluteString): \(error)\n".utf8))
    exit(1)
}
