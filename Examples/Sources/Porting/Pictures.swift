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

    func load(_ html: String, baseURL: URL?) {}
}

@MainActor
final class Pictures {
    let manager = OperationManager()
    let queue = TransferQueue()
    let images = ImageDownloader.shared
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

    // MARK: Example

    var load: Task<Void, Never>? { didSet { oldValue?.cancel() } }

    func show(_ url: URL, placeholder: DecodedImage) {
        view.image = placeholder
        load = Task { if let image = try? await images.image(from: url), !Task.isCancelled { view.image = image } }
    }

    // MARK: End of example
    // MARK: Example

    func show(_ request: URLRequest) {
        load = Task {
            let page = try? await manager.response(for: request, with: StringResponseSerializer())
            if let page, !Task.isCancelled { view.load(page.value, baseURL: page.response.url) }
        }
    }

    // MARK: End of example

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
