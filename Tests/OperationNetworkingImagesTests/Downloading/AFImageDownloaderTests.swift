import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingImages

/// AFNetworking's tests of its image downloader, replayed against httpbin by their names: `Tests/AFNetworking.md`.
@Suite(.enabled(if: RealServers.httpbin != nil), .timeLimit(.minutes(1)))
struct AFImageDownloaderTests {
    /// The width of httpbin's PNG, and of its JPEG.
    private static let (png, jpeg) = (100, 239)

    private let queue = DispatchQueue(label: "AFImageDownloaderTests")
    private let results = Recorder<String>()
    private let httpbin: URL

    init() throws {
        httpbin = try #require(RealServers.httpbin)
    }

    private func request(_ path: String = "image/png") -> URLRequest {
        URLRequest(url: httpbin.appendingPathComponent(path))
    }

    private func downloader(_ cache: (any ImageRequestCache)? = nil) -> ImageDownloader {
        ImageDownloader(imageCache: cache)
    }

    /// Asks, and records "name: width" with "cached" for one without a response, or "name: code".
    @discardableResult
    private func ask(
        _ downloader: ImageDownloader,
        _ request: URLRequest,
        _ name: String,
        receiptID: UUID = UUID()
    ) -> ImageDownloadReceipt? {
        downloader.downloadImage(
            for: request,
            receiptID: receiptID,
            completionQueue: queue,
            success: { [results] _, response, image in
                results.append("\(name): \(image.pixelWidth)\(response == nil ? " cached" : "")")
            },
            failure: { [results] _, _, error in
                results.append("\(name): \((error as? URLError)?.code.rawValue ?? 0)")
            }
        )
    }

    @Test func testThatImageDownloaderSingletonCanBeInitialized() {
        #expect(ImageDownloader.shared === ImageDownloader.shared)
    }

    /// A transfer keeps its downloader, which goes away with the last one.
    @Test func testThatImageDownloaderCanBeInitializedAndDeinitializedWithActiveDownloads() async throws {
        let released = Gate()
        ask(downloader(AskedCache(keeps: false, opensAtItsEnd: released)), request(), "a")
        #expect(try await results.wait() == ["a: \(Self.png)"])
        try await released.wait()
    }

    @Test(
        """
        testThatImageDownloaderReturnsNilWithInvalidURL; of the image view \
        testThatImageDownloadFailsWhenUsingMalformedURLRequest, testThatNilURLDoesntCrash
        """
    )
    func aRequestWithoutAURL() async throws {
        var request = request()
        request.url = nil
        #expect(ask(downloader(), request, "a") == nil)
        #expect(try await results.wait() == ["a: -1000"])
    }

    @Test func testThatImageDownloaderCanDownloadImage() async throws {
        let receipt = ask(downloader(), request(), "a")
        #expect(receipt?.url == request().url)
        #expect(try await results.wait() == ["a: \(Self.png)"])
    }

    @Test func testThatItCanDownloadMultipleImagesSimultaneously() async throws {
        let downloader = downloader()
        ask(downloader, request("image/png"), "a")
        ask(downloader, request("image/jpeg"), "b")
        #expect(try await results.wait(count: 2).sorted() == ["a: \(Self.png)", "b: \(Self.jpeg)"])
    }

    @Test func testThatImageBehindRedirectCanBeDownloaded() async throws {
        var address = try #require(URLComponents(url: httpbin, resolvingAgainstBaseURL: false))
        address.path = "/redirect-to"
        address.queryItems = [URLQueryItem(name: "url", value: "/image/png")]
        ask(downloader(), URLRequest(url: try #require(address.url)), "a")
        #expect(try await results.wait() == ["a: \(Self.png)"])
    }

    @Test(
        """
        testThatResponseIsNilWhenReturnedFromCache, testThatImageDownloadReceiptIsNilForCachedImage; of the image \
        view UIV-01 testSetImageWithURLRequestUsesCachedImage, testResponseIsNilWhenLoadedFromCache
        """
    )
    func imagesOfTheCache() async throws {
        let downloader = downloader(AutoPurgingImageCache(memoryPressure: nil))
        #expect(ask(downloader, request(), "a") != nil)
        try await results.wait()
        #expect(ask(downloader, request(), "b") == nil)
        #expect(try await results.wait(count: 2) == ["a: \(Self.png)", "b: \(Self.png) cached"])
    }

    /// Answers as the test sets, and counts.
    private final class AskedCache: ImageRequestCache {
        let events = Recorder<String>()
        private let keeps: Bool
        private let end: Gate?

        init(keeps: Bool, opensAtItsEnd end: Gate? = nil) {
            self.keeps = keeps
            self.end = end
        }

        deinit { end?.open() }

        func add(_ image: DecodedImage, for request: URLRequest, identifier: String?) { events.append("add") }
        func image(for request: URLRequest, identifier: String?) -> DecodedImage? { nil }
        func removeImage(for request: URLRequest, identifier: String?) -> Bool { false }
        func removeAllImages() -> Bool { false }
        func shouldCache(_ image: DecodedImage, for request: URLRequest, identifier: String?) -> Bool {
            events.append("shouldCache")
            return keeps
        }
    }

    @Test(
        "testThatImageCacheIsPromptedShouldCache, testThatImageCacheIsPromptedShouldCacheNot",
        arguments: [true, false]
    )
    func theCacheDecidesWhetherToStore(keeps: Bool) async throws {
        let cache = AskedCache(keeps: keeps)
        ask(downloader(cache), request(), "a")
        #expect(try await results.wait() == ["a: \(Self.png)"])
        #expect(cache.events.elements == (keeps ? ["shouldCache", "add"] : ["shouldCache"]))
    }

    @Test func testThatCacheIsIgnoredIfCacheIgnoredInRequest() async throws {
        let downloader = downloader(AutoPurgingImageCache(memoryPressure: nil))
        ask(downloader, request(), "a")
        try await results.wait()
        var again = request()
        again.cachePolicy = .reloadIgnoringLocalCacheData
        #expect(ask(downloader, again, "b") != nil)
        #expect(try await results.wait(count: 2) == ["a: \(Self.png)", "b: \(Self.png)"])
    }

    @Test func testThatCancellingDownloadCallsCompletionWithCancellationError() async throws {
        let downloader = downloader()
        downloader.cancel(try #require(ask(downloader, request("delay/10"), "a")))
        #expect(try await results.wait() == ["a: -999"])
    }

    @Test func testThatItCanDownloadAndCancelAndDownloadAgain() async throws {
        let downloader = downloader()
        let receipt = try #require(ask(downloader, request("delay/10"), "a"))
        downloader.cancel(receipt)
        ask(downloader, request(), "b")
        #expect(try await results.wait(count: 2) == ["a: -999", "b: \(Self.png)"])
    }

    @Test(
        """
        testThatItAlwaysCallsTheSuccessHandlerOnTheMainQueue, \
        testThatItAlwaysCallsTheFailureHandlerOnTheMainQueue
        """,
        arguments: ["image/png", "status/404"]
    )
    func handlersAreCalledOnTheMainQueue(path: String) async throws {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        let places = Recorder<Bool>()
        downloader().downloadImage(
            for: request(path),
            success: { _, _, _ in places.append(DispatchQueue.getSpecific(key: key) == true) },
            failure: { _, _, _ in places.append(DispatchQueue.getSpecific(key: key) == true) }
        )
        #expect(try await places.wait() == [true])
    }

    @Test func testThatReceiptIDMatchesReturnedID() throws {
        let (downloader, number) = (downloader(), UUID())
        let receipt = try #require(ask(downloader, request("delay/10"), "a", receiptID: number))
        #expect(receipt.receiptID == number)
        downloader.cancel(receipt)
    }

    /// Every format, from a server that many images come from.
    @Test(.enabled(if: RealServers.nginxRoot != nil), arguments: ExampleImage.all)
    func nginxServesIt(example: ExampleImage) async throws {
        let (url, root) = (try #require(RealServers.nginx), try #require(RealServers.nginxRoot))
        let name = "\(example.name).\(example.format.rawValue)"
        try example.data.write(to: root.appendingPathComponent(name))
        defer { try? FileManager.default.removeItem(at: root.appendingPathComponent(name)) }
        let image = try await downloader().image(from: url.appendingPathComponent(name))
        #expect(image.format == example.format && image.pixelWidth > 0)
    }
}
