// The examples stand as the documentation has them:
// swift-format-ignore-file

import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingImages

// Images and pages of views, as the migration guide writes them. Compiled, and not called.

@MainActor
final class Picture {
    var image: DecodedImage?
    var html = Data()
}

@MainActor
final class Button {
    var image: DecodedImage?
    var background: DecodedImage?
}

@MainActor
final class Pictures {
    let manager = OperationManager()
    let queue = TransferQueue()
    let view = Picture()
    var image: DecodedImage?

    func show(_ object: Any?) {
        print(object ?? "nothing")
    }

    func serializer(_ operation: HTTPRequestOperation) async throws {
        // MARK: Example

        operation.responseSerializer = ImageResponseSerializer(scale: 2)
        queue.addOperation(operation)
        let image = try await operation.value(as: DecodedImage.self)    // .pixels, .pixelWidth, .pixelHeight, .bytesPerRow

        // MARK: End of example
        show(image)
    }

    func views(_ url: URL, _ waiting: DecodedImage, _ request: URLRequest) {
        // MARK: Example

        let images = ImageBinding(to: view) { view, image in view.image = image }
        images.setImage(from: url, placeholder: waiting)
        let pages = ContentBinding(to: view, manager: manager) { view, content in view.html = content.data }
        pages.load(request, success: { response, content in content })

        // MARK: End of example
        withExtendedLifetime((images, pages)) {}
    }

    func button(_ button: Button, _ url: URL, _ background: URL, _ waiting: DecodedImage) {
        // MARK: Example

        let images = ImageBinding(to: button) { button, image in button.image = image }
        images.setImage(from: url, placeholder: waiting)
        let backgrounds = ImageBinding(to: button) { button, image in button.background = image }
        backgrounds.setImage(from: background)

        // MARK: End of example
        withExtendedLifetime((images, backgrounds)) {}
    }

    func cache(_ request: URLRequest) async throws {
        // MARK: Example

        let cache = ImageCache()
        let images = ImageDownloader(imageCache: cache)
        let image = try await images.image(for: request)
        let cached = cache.cachedImage(for: request)   // nil for requests that ignore caches, as before

        // MARK: End of example
        show((image, cached))
    }

    func downloader(_ url: URL, _ request: URLRequest) async throws {
        // MARK: Example

        let image = try await ImageDownloader.shared.image(from: url)
        let receipt = ImageDownloader.shared.downloadImage(
            for: request,
            success: { request, response, image in self.image = image },
            failure: { request, response, error in self.show(error) })
        if let receipt { ImageDownloader.shared.cancel(receipt) }

        // MARK: End of example
        show(image)
    }
}
