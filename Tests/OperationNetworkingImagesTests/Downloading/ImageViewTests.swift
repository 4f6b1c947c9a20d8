import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingImages
import OperationNetworkingTesting
import Testing

/// The lines of `Migration/Operations.md` that do the work of AFNetworking's category for the image view, AFNetworking's
/// tests of that, replayed against httpbin by their names (`Tests/AFNetworking.md`), and ours, whose server holds
/// its answers or counts its requests.
@Suite(.timeLimit(.minutes(1)))
@MainActor struct ImageViewTests {
    /// Shows the last image that was requested.
    @MainActor private final class View {
        let shown = Recorder<Int>()
        private let images: ImageDownloader
        private var image: DecodedImage? { didSet { shown.append(image?.pixelWidth ?? 0) } }
        var load: Task<Void, Never>? { didSet { oldValue?.cancel() } }

        init(_ images: ImageDownloader = ImageDownloader(imageCache: nil)) {
            self.images = images
        }

        func show(_ url: URL, placeholder: DecodedImage? = nil) {
            if let placeholder { image = placeholder }
            load = Task {
                if let image = try? await images.image(from: url), !Task.isCancelled { self.image = image }
            }
        }
    }

    private nonisolated static let answer = Answer.respond(
        200,
        ["Content-Type": "image/png"],
        body: .data(ExampleImage.named("png"))
    )

    private func placeholder() throws -> DecodedImage {
        let pixels = Data(repeating: 255, count: 4)
        return try #require(DecodedImage(pixels: pixels, pixelWidth: 1, pixelHeight: 1))
    }

    @Test func anImageIsShownAfterItsPlaceholder() async throws {
        let server = try ScriptedServer([Self.answer])
        let view = View()
        view.show(server.url, placeholder: try placeholder())
        await view.load?.value
        #expect(view.shown.elements == [1, 16] && server.requests.first?["Accept"] == "image/*")
    }

    @Test func onlyTheLastImageIsShown() async throws {
        let gate = Gate()
        let server = try ScriptedServer(
            routes: [
                "/slow": [Self.answer.held(by: gate)],
                "/fast": [Self.answer],
            ]
        )
        let view = View()
        view.show(server.url(path: "/slow"))
        let slow = try #require(view.load)
        try await gate.waitForArrivals()
        view.show(server.url(path: "/fast"))
        await view.load?.value
        gate.open()
        await slow.value
        #expect(view.shown.elements == [16])
    }

    @Test func aLoadThatIsCancelledShowsNothingAndStopsItsTransfer() async throws {
        let gate = Gate()
        let server = try ScriptedServer([Self.answer.held(by: gate)])
        let images = ImageDownloader(imageCache: nil)
        let view = View(images)
        view.show(server.url)
        let load = try #require(view.load)
        try await gate.waitForArrivals()
        view.load = nil
        await load.value
        try await eventually { images.activeDownloadCount == 0 }
        gate.open()
        #expect(view.shown.elements.isEmpty)
    }

    /// Its task may wait for the main actor already, which this test has.
    @Test(arguments: 0..<20) func anImageReplacedAfterItsArrivalIsNotShown(turns: Int) async throws {
        let server = try ScriptedServer { _ in Self.answer }
        let images = ImageDownloader(imageCache: AutoPurgingImageCache())
        _ = try await images.image(from: server.url)
        let view = View(images)
        view.show(server.url)
        let load = try #require(view.load)
        for _ in 0..<turns { await Task.yield() }
        let shown = view.shown.elements
        view.load = nil
        await load.value
        #expect(view.shown.elements == shown)
    }

    // MARK: - AFNetworking's

    private func url(_ path: String) throws -> URL {
        try #require(RealServers.httpbin).appendingPathComponent(path)
    }

    @Test(.enabled(if: RealServers.httpbin != nil)) func testThatImageCanBeDownloadedFromURL() async throws {
        let view = View()
        view.show(try url("image/jpeg"))
        await view.load?.value
        #expect(view.shown.elements == [239])
    }

    @Test(.enabled(if: RealServers.httpbin != nil))
    func testThatImageDownloadSucceedsWhenDuplicateRequestIsSentToImageView() async throws {
        let view = View()
        for _ in 1...2 { view.show(try url("image/jpeg")) }
        await view.load?.value
        #expect(view.shown.elements == [239])
    }

    @Test(.enabled(if: RealServers.httpbin != nil))
    func testThatPlaceholderImageIsSetIfRequestFails() async throws {
        let view = View()
        view.show(try url("status/404"), placeholder: try placeholder())
        await view.load?.value
        #expect(view.shown.elements == [1])
    }

    @Test(.enabled(if: RealServers.httpbin != nil))
    func testThatImageCanBeCancelledAndDownloadedImmediately() async throws {
        let view = View()
        view.show(try url("image/jpeg"))
        view.load = nil
        view.show(try url("image/jpeg"))
        await view.load?.value
        #expect(view.shown.elements == [239])
    }
}
