import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingImages
import OperationNetworkingTesting
import Testing

/// AFNetworking's tests of the image view, by their names as far as Linux has what they need, and ours.
@Suite(.timeLimit(.minutes(1))) struct ImageBindingTests {
    private final class View: Sendable {
        let shown = Recorder<String>()
    }

    private let queue = DispatchQueue(label: "ImageBindingTests")
    private let view = View()
    private static let answer = Answer.respond(
        200,
        ["Content-Type": "image/png"],
        body: .data(ExampleImage.named("png"))
    )

    private func binding(_ downloader: ImageDownloader) -> ImageBinding<View> {
        ImageBinding(to: view, downloader: downloader, completionQueue: queue) { view, image in
            view.shown.append(image.map { "\($0.pixelWidth)" } ?? "nothing")
        }
    }

    private func placeholder() throws -> DecodedImage {
        let pixels = Data(repeating: 255, count: 4)
        return try #require(DecodedImage(pixels: pixels, pixelWidth: 1, pixelHeight: 1))
    }

    @Test func anImageIsShownAfterItsPlaceholder() async throws {
        let server = try ScriptedServer([Self.answer])
        let binding = binding(ImageDownloader(imageCache: nil))
        binding.setImage(from: server.url, placeholder: try placeholder())
        #expect(try await view.shown.wait(count: 2) == ["1", "16"])
        queue.sync {}
        #expect(!binding.isLoading && server.requests.first?["Accept"] == "image/*")
    }

    /// UIV-01: the cached image comes without a response.
    @Test func testSetImageWithURLRequestUsesCachedImage() async throws {
        let server = try ScriptedServer([Self.answer])
        let binding = binding(ImageDownloader())
        binding.setImage(from: server.url)
        _ = try await view.shown.wait()
        var request = URLRequest(url: server.url)
        request.setValue("image/*", forHTTPHeaderField: "Accept")
        let results = Recorder<String>()
        binding.setImage(
            with: request,
            success: { request, response, image in
                results.append("\(request.url == server.url) \(response == nil) \(image.pixelWidth)")
            },
            failure: { _, _, error in results.append("\(error)") }
        )
        #expect(try await results.wait() == ["true true 16"])
        // The closure is called instead.
        #expect(view.shown.elements == ["16"] && server.requests.count == 1)
    }

    @Test func onlyTheLastImageIsShown() async throws {
        let gate = Gate()
        let server = try ScriptedServer(
            routes: [
                "/slow": [Self.answer.held(by: gate)],
                "/fast": [Self.answer],
            ]
        )
        let binding = binding(ImageDownloader(imageCache: nil))
        let failures = Recorder<String>()
        let slow = URLRequest(url: server.url(path: "/slow"))
        binding.setImage(with: slow, failure: { _, _, error in failures.append("\(error)") })
        try await gate.waitForArrivals()
        binding.setImage(from: server.url(path: "/fast"))
        #expect(try await view.shown.wait() == ["16"])
        gate.open()
        queue.sync {}
        #expect(view.shown.elements == ["16"] && failures.elements.isEmpty)
    }

    @Test func aFailureIsToldAndNothingIsShown() async throws {
        let server = try ScriptedServer([.respond(404)])
        let binding = binding(ImageDownloader(imageCache: nil))
        let failures = Recorder<Int>()
        binding.setImage(
            with: URLRequest(url: server.url),
            failure: { _, response, _ in failures.append(response?.statusCode ?? 0) }
        )
        #expect(try await failures.wait() == [404])
        #expect(view.shown.elements.isEmpty && !binding.isLoading)
    }

    @Test func whatIsCancelledIsNotShown() async throws {
        let gate = Gate()
        let server = try ScriptedServer([Self.answer.held(by: gate)])
        let downloader = ImageDownloader(imageCache: nil)
        let binding = binding(downloader)
        binding.setImage(from: server.url)
        try await gate.waitForArrivals()
        #expect(binding.isLoading)
        binding.cancel()
        #expect(!binding.isLoading)
        gate.open()
        // Another one goes through the same queues after it.
        let other = try ScriptedServer([Self.answer])
        _ = try await downloader.image(from: other.url)
        queue.sync {}
        #expect(view.shown.elements.isEmpty)
    }

    @Test func anObjectThatIsReleasedIsShownNothing() async throws {
        let gate = Gate()
        let server = try ScriptedServer([Self.answer.held(by: gate)])
        let downloader = ImageDownloader(imageCache: nil)
        let shown = Recorder<String>()
        var view: View? = View()
        weak let released = view
        let binding = try ImageBinding(
            to: #require(view),
            downloader: downloader,
            completionQueue: queue
        ) { _, _ in shown.append("shown") }
        binding.setImage(from: server.url)
        try await gate.waitForArrivals()
        view = nil
        #expect(released == nil)
        gate.open()
        let other = try ScriptedServer([Self.answer])
        _ = try await downloader.image(from: other.url)
        queue.sync {}
        #expect(shown.elements.isEmpty)
    }
}
