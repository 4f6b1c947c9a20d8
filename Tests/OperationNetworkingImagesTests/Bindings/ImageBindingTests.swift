import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingImages
import OperationNetworkingTesting
import Testing

/// AFNetworking's tests of the image view, replayed against httpbin by their names (`Tests/AFNetworking.md`),
/// and ours, whose server holds its answers or counts its requests.
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
        binding.setImage(for: slow, failure: { _, _, error in failures.append("\(error)") })
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
            for: URLRequest(url: server.url),
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

    // MARK: - AFNetworking's

    private func request(_ path: String) throws -> URLRequest {
        var request = URLRequest(url: try #require(RealServers.httpbin).appendingPathComponent(path))
        request.setValue("image/*", forHTTPHeaderField: "Accept")
        return request
    }

    @Test(.enabled(if: RealServers.httpbin != nil)) func testThatImageCanBeDownloadedFromURL() async throws {
        let binding = binding(ImageDownloader(imageCache: nil))
        binding.setImage(from: try #require(request("image/jpeg").url))
        #expect(try await view.shown.wait() == ["239"])
    }

    @Test(.enabled(if: RealServers.httpbin != nil))
    func testThatImageDownloadSucceedsWhenDuplicateRequestIsSentToImageView() async throws {
        let binding = binding(ImageDownloader(imageCache: nil))
        for _ in 1...2 { binding.setImage(for: try request("image/jpeg")) }
        #expect(try await view.shown.wait() == ["239"])
        queue.sync {}
        #expect(view.shown.elements == ["239"] && !binding.isLoading)
    }

    @Test(.enabled(if: RealServers.httpbin != nil))
    func testThatPlaceholderImageIsSetIfRequestFails() async throws {
        let binding = binding(ImageDownloader(imageCache: nil))
        let failures = Recorder<Int>()
        binding.setImage(
            for: try request("status/404"),
            placeholder: try placeholder(),
            failure: { _, response, _ in failures.append(response?.statusCode ?? 0) }
        )
        #expect(try await failures.wait() == [404])
        #expect(view.shown.elements == ["1"])
    }

    @Test(
        "UIV-01 testSetImageWithURLRequestUsesCachedImage, testResponseIsNilWhenLoadedFromCache",
        .enabled(if: RealServers.httpbin != nil)
    )
    func theCachedImageComesWithoutAResponse() async throws {
        let request = try request("image/jpeg")
        let downloader = ImageDownloader()
        let first = try await downloader.image(for: request)
        let (binding, results) = (binding(downloader), Recorder<String>())
        binding.setImage(
            for: request,
            success: { asked, response, image in
                results.append("\(asked.url == request.url) \(response == nil) \(image == first)")
            },
            failure: { _, _, error in results.append("\(error)") }
        )
        #expect(try await results.wait() == ["true true true"])
        // The closure is called instead.
        #expect(view.shown.elements.isEmpty)
    }

    @Test(.enabled(if: RealServers.httpbin != nil))
    func testThatImageCanBeCancelledAndDownloadedImmediately() async throws {
        let binding = binding(ImageDownloader(imageCache: nil))
        binding.setImage(for: try request("image/jpeg"))
        binding.cancel()
        binding.setImage(for: try request("image/jpeg"))
        #expect(try await view.shown.wait() == ["239"])
    }

    @Test(
        "testThatImageDownloadFailsWhenUsingMalformedURLRequest, testThatNilURLDoesntCrash",
        .enabled(if: RealServers.httpbin != nil)
    )
    func aRequestWithoutAURLFails() async throws {
        var request = try request("image/jpeg")
        request.url = nil
        let failures = Recorder<Int>()
        let binding = binding(ImageDownloader(imageCache: nil))
        binding.setImage(
            for: request,
            placeholder: try placeholder(),
            failure: { _, response, error in
                failures.append(response == nil ? (error as? URLError)?.code.rawValue ?? 0 : 0)
            }
        )
        #expect(try await failures.wait() == [-1000])
        #expect(view.shown.elements == ["1"])
    }

    // MARK: - Isolation

    @MainActor private final class Window {
        private(set) var lines: [String] = []

        func show(_ line: String) {
            // A closure that came on another thread would trap here.
            MainActor.preconditionIsolated()
            lines.append(line)
        }
    }

    /// Whatever the completion queue is; also those of a downloader.
    @MainActor @Test func closuresOfMainActorCodeTouchIt() async throws {
        let server = try ScriptedServer { $0.path == "/bad" ? .respond(404) : Self.answer }
        let downloader = ImageDownloader(imageCache: nil)
        let (window, over) = (Window(), Recorder<Bool>())
        let binding = ImageBinding(to: window, downloader: downloader, completionQueue: queue) {
            window,
            image in
            window.show(image.map { "\($0.pixelWidth)" } ?? "nothing")
            over.append(true)
        }
        binding.setImage(from: server.url, placeholder: try placeholder())
        _ = try await over.wait(count: 2)
        binding.setImage(
            for: URLRequest(url: server.url),
            success: { _, _, _ in
                window.show("success")
                over.append(true)
            }
        )
        _ = try await over.wait(count: 3)
        binding.setImage(
            for: URLRequest(url: server.url(path: "bad")),
            failure: { _, _, _ in
                window.show("failure")
                over.append(true)
            }
        )
        _ = try await over.wait(count: 4)
        downloader.downloadImage(
            for: URLRequest(url: server.url),
            completionQueue: queue,
            success: { _, _, _ in
                window.show("downloaded")
                over.append(true)
            }
        )
        _ = try await over.wait(count: 5)
        #expect(window.lines == ["1", "16", "success", "failure", "downloaded"])
    }

    /// An image whose place another one takes is not shown, though its closure was on its way to the main queue.
    @MainActor @Test func anImageThatIsReplacedOnTheMainActorIsNotShown() async throws {
        let server = try ScriptedServer { _ in Self.answer }
        let cache = AutoPurgingImageCache()
        let (window, over) = (Window(), Recorder<Bool>())
        let binding = ImageBinding(
            to: window,
            downloader: ImageDownloader(imageCache: cache),
            completionQueue: queue
        ) { window, image in
            window.show("\(image?.pixelWidth ?? 0)")
            over.append(true)
        }
        binding.setImage(from: server.url)
        _ = try await over.wait()
        // From the cache: the closure is queued at once, and the main queue is busy here.
        binding.setImage(from: server.url)
        binding.cancel()
        binding.setImage(from: server.url)
        _ = try await over.wait(count: 2)
        #expect(window.lines == ["16", "16"])
    }

    private actor Gallery {
        var shown: [String] = []

        func bind(_ view: View, _ downloader: ImageDownloader) -> ImageBinding<View> {
            ImageBinding(to: view, downloader: downloader) { view, image in
                self.preconditionIsolated()
                self.shown.append(image.map { "\($0.pixelWidth)" } ?? "nothing")
                view.shown.append("shown")
            }
        }
    }

    /// Two calls of an actor have no order of their own.
    @Test func noPlaceholderComesAfterItsImageOnAnActor() async throws {
        let server = try ScriptedServer { _ in Self.answer }
        let downloader = ImageDownloader(imageCache: AutoPurgingImageCache())
        _ = try await downloader.image(from: server.url)
        let placeholder = try placeholder()
        for _ in 0..<50 {
            let (gallery, view) = (Gallery(), View())
            let binding = await gallery.bind(view, downloader)
            binding.setImage(from: server.url, placeholder: placeholder)
            while binding.isLoading { await Task.yield() }
            let shown = await gallery.shown
            #expect(shown.last == "16")
        }
    }
}
