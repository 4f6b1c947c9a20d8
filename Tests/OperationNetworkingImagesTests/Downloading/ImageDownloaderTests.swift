import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingImages

/// Tests of the downloader: ours, and those of AFNetworking that need a server that holds its answer, or counts
/// its requests. `AFImageDownloaderTests` has the others, which httpbin answers.
@Suite(.timeLimit(.minutes(1))) struct ImageDownloaderTests {
    private let queue = DispatchQueue(label: "ImageDownloaderTests")
    private let results = Recorder<String>()

    private static let answer = Answer.respond(
        200,
        ["Content-Type": "image/png"],
        body: .data(ExampleImage.named("png"))
    )

    private func downloader(
        _ prioritization: ImageDownloader.Prioritization = .fifo,
        _ limit: Int = 4,
        cache: (any ImageRequestCache)? = nil
    ) -> ImageDownloader {
        ImageDownloader(prioritization: prioritization, maximumActiveDownloads: limit, imageCache: cache)
    }

    /// Asks, and records "name: width" with "cached" for one without a response, or "name: code".
    @discardableResult
    private func ask(
        _ downloader: ImageDownloader,
        _ request: URLRequest,
        _ name: String,
        priority: Operation.QueuePriority = .normal
    ) -> ImageDownloadReceipt? {
        downloader.downloadImage(
            for: request,
            priority: priority,
            completionQueue: queue,
            success: { [results] _, response, image in
                results.append("\(name): \(image.pixelWidth)\(response == nil ? " cached" : "")")
            },
            failure: { [results] _, _, error in
                results.append("\(name): \((error as? URLError)?.code.rawValue ?? 0)")
            }
        )
    }

    // MARK: - Secrets and methods

    @Test(arguments: ["Authorization", "Cookie"])
    func theCacheAnswersNoRequestOfOneUser(field: String) async throws {
        let server = try ScriptedServer { _ in Self.answer }
        let cache = AutoPurgingImageCache()
        let downloader = downloader(cache: cache)
        var secret = URLRequest(url: server.url)
        secret.setValue("one", forHTTPHeaderField: field)
        ask(downloader, secret, "a")
        #expect(try await results.wait() == ["a: 16"])
        ask(downloader, URLRequest(url: server.url), "b")
        #expect(try await results.wait(count: 2).last == "b: 16")
        secret.setValue("two", forHTTPHeaderField: field)
        ask(downloader, secret, "c")
        #expect(try await results.wait(count: 3).last == "c: 16", "the cached image is for no other user")
        ask(downloader, URLRequest(url: server.url), "d")
        #expect(try await results.wait(count: 4).last == "d: 16 cached")
        server.stop()
    }

    /// As `image(from:)` asks, and as a prefetcher with a request of its own does.
    @Test func requestsThatDifferInAcceptedFormatsShareATransfer() async throws {
        let gate = Gate()
        let server = try ScriptedServer { _ in Self.answer.held(by: gate) }
        let downloader = downloader(cache: AutoPurgingImageCache())
        var request = URLRequest(url: server.url)
        ask(downloader, request, "a")
        try await gate.waitForArrivals(1)
        request.setValue("image/*", forHTTPHeaderField: "accept")
        ask(downloader, request, "b")
        gate.open()
        #expect(try await results.wait(count: 2).sorted() == ["a: 16", "b: 16"])
        #expect(server.requests.count == 1)
        server.stop()
    }

    @Test func postsShareNothing() async throws {
        let gate = Gate()
        let server = try ScriptedServer { _ in Self.answer.held(by: gate) }
        let downloader = downloader(cache: AutoPurgingImageCache())
        for name in ["a", "b"] {
            var request = URLRequest(url: server.url)
            request.httpMethod = "POST"
            request.httpBody = Data(name.utf8)
            ask(downloader, request, name)
        }
        try await gate.waitForArrivals(2)
        gate.open()
        #expect(try await results.wait(count: 2).sorted() == ["a: 16", "b: 16"])
        #expect(Set(server.requests.map(\.body)) == [Data("a".utf8), Data("b".utf8)])
        ask(downloader, URLRequest(url: server.url), "c")
        #expect(try await results.wait(count: 3).last == "c: 16")
        server.stop()
    }

    // MARK: - Between the cache and the transfers

    /// A cache that gets its image between the first look and the second.
    private final class LateCache: ImageRequestCache {
        private let looks = Recorder<String?>()
        private let image: DecodedImage

        init(_ image: DecodedImage) { self.image = image }

        func add(_ image: DecodedImage, for request: URLRequest, identifier: String?) {}
        func removeImage(for request: URLRequest, identifier: String?) -> Bool { false }
        func removeAllImages() -> Bool { false }
        func image(for request: URLRequest, identifier: String?) -> DecodedImage? {
            looks.append(identifier)
            return looks.elements.count > 1 ? image : nil
        }
    }

    @Test func anImageCachedAfterTheLookupNeedsNoTransfer() async throws {
        let server = try ScriptedServer { _ in Self.answer }
        let image = try ImageDecoder().image(from: ExampleImage.named("png"))
        let downloader = downloader(cache: LateCache(image))
        ask(downloader, URLRequest(url: server.url), "a")
        #expect(try await results.wait() == ["a: 16 cached"])
        #expect(server.requests.isEmpty && downloader.activeDownloadCount == 0)
        server.stop()
    }

    @Test func aRequestForFreshDataIsNotAnsweredByTheSecondLook() async throws {
        let server = try ScriptedServer { _ in Self.answer }
        let image = try ImageDecoder().image(from: ExampleImage.named("png"))
        let downloader = downloader(cache: LateCache(image))
        var request = URLRequest(url: server.url)
        request.cachePolicy = .reloadIgnoringLocalCacheData
        ask(downloader, request, "a")
        #expect(try await results.wait() == ["a: 16"])
        server.stop()
    }

    @Test func twoReceiptsWithOneIdentifierCancelOneHandler() async throws {
        let gate = Gate()
        let server = try ScriptedServer([Self.answer.held(by: gate)])
        let downloader = downloader()
        let number = UUID()
        let receipts = ["a", "b"].compactMap { name in
            downloader.downloadImage(
                for: URLRequest(url: server.url),
                receiptID: number,
                completionQueue: queue,
                success: { [results] _, _, _ in results.append("\(name) done") },
                failure: { [results] _, _, _ in results.append("\(name) failed") }
            )
        }
        #expect(receipts.map(\.receiptID) == [number, number])
        try await gate.waitForArrivals()
        downloader.cancel(receipts[1])
        downloader.cancel(receipts[1])
        #expect(try await results.wait() == ["b failed"])
        gate.open()
        #expect(try await results.wait(count: 2) == ["b failed", "a done"])
        server.stop()
    }

    /// A serializer that the library does not know, of small images.
    private struct ThumbnailSerializer: ResponseSerializer {
        func responseObject(for response: HTTPURLResponse?, data: Data?) throws -> (any Sendable)? {
            try ImageResponseSerializer(maximumPixelSize: 8).responseObject(for: response, data: data)
        }
    }

    private static let smallSerializers: [any ResponseSerializer] = [
        ImageResponseSerializer(maximumPixelSize: 8), ThumbnailSerializer(),
        CompoundResponseSerializer([
            JSONResponseSerializer(),
            CompoundResponseSerializer([ImageResponseSerializer(maximumPixelSize: 8)]),
        ]),
    ]

    @Test func serializersOfOtherImagesHaveOtherIdentifiers() {
        let (whole, small) = (ImageResponseSerializer(), ImageResponseSerializer(maximumPixelSize: 8))
        #expect(whole.imageIdentifier == nil)
        #expect(small.imageIdentifier == small.decoder.cacheIdentifier)
        let json = JSONResponseSerializer()
        #expect(CompoundResponseSerializer([json, whole]).imageIdentifier == nil)
        #expect(CompoundResponseSerializer([json, small]).imageIdentifier == small.imageIdentifier)
        let nested = CompoundResponseSerializer([json, CompoundResponseSerializer([small, small])])
        #expect(nested.imageIdentifier == small.imageIdentifier)
        let several = [
            CompoundResponseSerializer([whole, small]), CompoundResponseSerializer([small, whole]),
            CompoundResponseSerializer([json]),
        ].map(\.imageIdentifier)
        #expect(Set(several + [small.imageIdentifier, nil]).count == 5)
        #expect(ThumbnailSerializer().imageIdentifier?.hasSuffix("ThumbnailSerializer") == true)
    }

    @Test(arguments: smallSerializers.indices)
    func aSharedCacheKeepsEachSizeOfAnImage(index: Int) async throws {
        let server = try ScriptedServer { _ in Self.answer }
        let cache = AutoPurgingImageCache()
        let small = OperationManager()
        small.responseSerializer = Self.smallSerializers[index]
        for (manager, name) in [(small, "a"), (nil, "b"), (small, "c"), (nil, "d")] {
            let downloader = ImageDownloader(manager: manager, imageCache: cache)
            ask(downloader, URLRequest(url: server.url), name)
            try await results.wait(count: ["a", "b", "c", "d"].firstIndex(of: name).map { $0 + 1 } ?? 0)
        }
        #expect(results.elements == ["a: 8", "b: 16", "c: 8 cached", "d: 16 cached"])
        server.stop()
    }

    // MARK: - AFNetworking's

    @Test func testThatItCanDownloadMultipleImagesSimultaneously() async throws {
        let gate = Gate()
        let server = try ScriptedServer([Self.answer.held(by: gate)])
        let downloader = downloader()
        for name in ["a", "b"] {
            ask(downloader, URLRequest(url: server.url.appendingPathComponent(name)), name)
        }
        try await gate.waitForArrivals(2)
        gate.open()
        #expect(try await results.wait(count: 2).sorted() == ["a: 16", "b: 16"])
        server.stop()
    }

    @Test func testThatSimultaneouslyRequestsForTheSameAssetReceiveSameResponse() async throws {
        let gate = Gate()
        let server = try ScriptedServer([Self.answer.held(by: gate)])
        let downloader = downloader()
        let receipts = (0..<20).compactMap { ask(downloader, URLRequest(url: server.url), "\($0)") }
        #expect(Set(receipts).count == 20)
        #expect(downloader.activeDownloadCount == 1)
        gate.open()
        #expect(try await results.wait(count: 20) == (0..<20).map { "\($0): 16" })
        #expect(server.requests.count == 1)
        server.stop()
    }

    @Test(
        "Images from both caches need no transfer",
        arguments: [false, true]
    )
    func imagesFromTheCacheComeWithoutATransfer(isOfTwo: Bool) async throws {
        let server = try ScriptedServer([Self.answer])
        let cache: any ImageRequestCache =
            isOfTwo ? ImageCache(memoryPressure: nil) : AutoPurgingImageCache(memoryPressure: nil)
        let downloader = downloader(cache: cache)
        #expect(ask(downloader, URLRequest(url: server.url), "a") != nil)
        try await results.wait()
        #expect(ask(downloader, URLRequest(url: server.url), "b") == nil)
        #expect(try await results.wait(count: 2) == ["a: 16", "b: 16 cached"])
        #expect(server.requests.count == 1)
        server.stop()
    }

    @Test(
        "Policies that require fresh data skip the cache",
        arguments: [.reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData]
            as [URLRequest.CachePolicy]
    )
    func reloadingRequestsSkipTheCache(policy: URLRequest.CachePolicy) async throws {
        let server = try ScriptedServer([Self.answer])
        let downloader = downloader(cache: AutoPurgingImageCache(memoryPressure: nil))
        var request = URLRequest(url: server.url)
        ask(downloader, request, "a")
        try await results.wait()
        request.cachePolicy = policy
        #expect(ask(downloader, request, "b") != nil)
        #expect(try await results.wait(count: 2) == ["a: 16", "b: 16"])
        #expect(server.requests.count == 2)
        server.stop()
    }

    /// A cache of responses may answer the one, and not the other.
    @Test func requestsOfTwoCachePoliciesShareNothing() async throws {
        let gate = Gate()
        let server = try ScriptedServer { _ in Self.answer.held(by: gate) }
        let downloader = downloader(cache: nil)
        var request = URLRequest(url: server.url)
        ask(downloader, request, "a")
        ask(downloader, request, "b")
        request.cachePolicy = .reloadIgnoringLocalCacheData
        ask(downloader, request, "c")
        try await gate.waitForArrivals(2)
        gate.open()
        #expect(try await results.wait(count: 3).sorted() == ["a: 16", "b: 16", "c: 16"])
        #expect(server.requests.count == 2)
        server.stop()
    }

    @Test func testThatCancellingDownloadCallsCompletionWithCancellationError() async throws {
        let gate = Gate()
        let server = try ScriptedServer([Self.answer.held(by: gate)])
        let downloader = downloader()
        let receipt = try #require(ask(downloader, URLRequest(url: server.url), "a"))
        downloader.cancel(receipt)
        #expect(try await results.wait() == ["a: -999"])
        // Again, it does nothing.
        downloader.cancel(receipt)
        queue.sync {}
        #expect(results.elements.count == 1)
        gate.open()
        server.stop()
    }

    @Test func testThatCancellingDownloadWithMultipleResponseHandlersCancelsFirstYetAllowsSecondToComplete()
        async throws
    {
        let gate = Gate()
        let server = try ScriptedServer([Self.answer.held(by: gate)])
        let downloader = downloader()
        let first = try #require(ask(downloader, URLRequest(url: server.url), "a"))
        ask(downloader, URLRequest(url: server.url), "b")
        try await gate.waitForArrivals()
        downloader.cancel(first)
        #expect(try await results.wait() == ["a: -999"])
        gate.open()
        #expect(try await results.wait(count: 2) == ["a: -999", "b: 16"])
        #expect(server.requests.count == 1)
        server.stop()
    }

    @Test func testThatItCanDownloadAndCancelAndDownloadAgain() async throws {
        let gate = Gate()
        let server = try ScriptedServer([Self.answer.held(by: gate), Self.answer])
        let downloader = downloader()
        let receipt = try #require(ask(downloader, URLRequest(url: server.url), "a"))
        try await gate.waitForArrivals()
        downloader.cancel(receipt)
        ask(downloader, URLRequest(url: server.url), "b")
        #expect(try await results.wait(count: 2) == ["a: -999", "b: 16"])
        gate.open()
        server.stop()
    }

    @Test(
        "Handlers are called on the requested queue",
        arguments: [false, true]
    )
    func handlersAreCalledOnTheirQueue(isFailure: Bool) async throws {
        let server = try ScriptedServer([isFailure ? .respond(404) : Self.answer])
        let key = DispatchSpecificKey<Int>()
        let own = DispatchQueue(label: "own")
        own.setSpecific(key: key, value: 7)
        let queues = Recorder<Int?>()
        let downloader = downloader(cache: AutoPurgingImageCache(memoryPressure: nil))
        for round in 1...2 {
            downloader.downloadImage(
                for: URLRequest(url: server.url),
                completionQueue: own,
                success: { _, _, _ in queues.append(DispatchQueue.getSpecific(key: key)) },
                failure: { _, _, _ in queues.append(DispatchQueue.getSpecific(key: key)) }
            )
            try await queues.wait(count: round)
        }
        #expect(queues.elements == [7, 7])
        server.stop()
    }

    @Test(
        "First or last in, after the priority",
        arguments: [
            (.fifo, ["first", "urgent", "a", "b"]), (.lifo, ["first", "urgent", "b", "a"]),
        ] as [(ImageDownloader.Prioritization, [String])]
    )
    func startsInOrder(prioritization: ImageDownloader.Prioritization, expected: [String]) async throws {
        let gate = Gate()
        let server = try ScriptedServer([Self.answer.held(by: gate), Self.answer])
        let downloader = downloader(prioritization, 1)
        for name in ["first", "a", "b"] {
            ask(downloader, URLRequest(url: server.url.appendingPathComponent(name)), name)
        }
        let url = server.url.appendingPathComponent("urgent")
        ask(downloader, URLRequest(url: url), "urgent", priority: .high)
        try await gate.waitForArrivals()
        gate.open()
        #expect(try await results.wait(count: 4) == expected.map { "\($0): 16" })
        server.stop()
    }

    // MARK: - Ours

    @Test func atMostFourAreActive() async throws {
        let gate = Gate()
        let server = try ScriptedServer([Self.answer.held(by: gate)])
        let downloader = ImageDownloader(imageCache: nil)
        #expect(downloader.maximumActiveDownloads == 4 && downloader.prioritization == .fifo)
        for name in 0..<10 {
            ask(downloader, URLRequest(url: server.url.appendingPathComponent("\(name)")), "\(name)")
        }
        try await gate.waitForArrivals(4)
        #expect(downloader.activeDownloadCount == 4)
        #expect(server.requests.count == 4)
        gate.open()
        try await results.wait(count: 10)
        #expect(results.elements.count == 10)
        server.stop()
    }

    @Test("testThatCancelImageDownloadItShouldCancelImmediately: by its last handler")
    func theLastHandlersCancellationStopsTheTransfer() async throws {
        let gate = Gate()
        let server = try ScriptedServer([Self.answer.held(by: gate)])
        let manager = OperationManager()
        manager.responseSerializer = ImageResponseSerializer()
        let downloader = ImageDownloader(manager: manager, imageCache: nil)
        let receipts = ["a", "b"].compactMap { ask(downloader, URLRequest(url: server.url), $0) }
        try await gate.waitForArrivals()
        let operation = try #require(manager.operationQueue.operations.first)
        downloader.cancel(receipts[0])
        #expect(!operation.isCancelled)
        downloader.cancel(receipts[1])
        #expect(operation.isCancelled)
        #expect(try await results.wait(count: 2) == ["a: -999", "b: -999"])
        gate.open()
        server.stop()
    }

    @Test func requestsWithOtherFieldsAreOthers() async throws {
        let gate = Gate()
        let server = try ScriptedServer([Self.answer.held(by: gate)])
        let downloader = downloader()
        for user in ["a", "b"] {
            var request = URLRequest(url: server.url)
            request.setValue(user, forHTTPHeaderField: "Authorization")
            ask(downloader, request, user)
        }
        try await gate.waitForArrivals(2)
        gate.open()
        try await results.wait(count: 2)
        #expect(results.elements.count == 2)
        server.stop()
    }

    /// Records the status of each operation that finished.
    private final class StatusWatcher: OperationObserver {
        let statuses = Recorder<Int>()

        func operationDidFinish(_ operation: ConnectionOperation, wasRunning: Bool) {
            statuses.append(operation.response?.statusCode ?? 0)
        }
    }

    @Test func observersOfTheManagerAreNotifiedOfImages() async throws {
        let server = try ScriptedServer([Self.answer])
        let downloader = downloader()
        let watcher = StatusWatcher()
        downloader.manager.addObserver(watcher)
        ask(downloader, URLRequest(url: server.url), "a")
        #expect(try await results.wait() == ["a: 16"])
        #expect(try await watcher.statuses.wait() == [200])
        server.stop()
    }

    @Test func aRequestThatMayNotLoadDoesNot() async throws {
        let server = try ScriptedServer([Self.answer])
        var request = URLRequest(url: server.url)
        request.cachePolicy = .returnCacheDataDontLoad
        #expect(ask(downloader(), request, "a") == nil)
        #expect(try await results.wait() == ["a: \(URLError.Code.resourceUnavailable.rawValue)"])
        #expect(server.requests.isEmpty)
        server.stop()
    }

    @Test("async, without a main queue, for images")
    func awaits() async throws {
        let server = try ScriptedServer([Self.answer])
        #expect(try await downloader().image(from: server.url).pixelWidth == 16)
        #expect(server.requests[0]["Accept"] == "image/*")
        server.stop()
    }

    @Test func cancellingATaskCancelsItsHandlerOnly() async throws {
        let gate = Gate()
        let server = try ScriptedServer([Self.answer.held(by: gate)])
        let downloader = downloader()
        let url = server.url
        var request = URLRequest(url: url)
        request.setValue("image/*", forHTTPHeaderField: "Accept")
        ask(downloader, request, "a")
        let task = Task { try await downloader.image(from: url) }
        try await gate.waitForArrivals()
        task.cancel()
        let error = await #expect(throws: URLError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        gate.open()
        #expect(try await results.wait() == ["a: 16"])
        #expect(server.requests.count == 1)
        server.stop()
    }

    @Test func aBodyThatIsNotAnImageFailsAndIsNotCached() async throws {
        let server = try ScriptedServer([
            .respond(200, ["Content-Type": "image/png"], body: "<html>"), Self.answer,
        ])
        let cache = AutoPurgingImageCache(memoryPressure: nil)
        let downloader = downloader(cache: cache)
        ask(downloader, URLRequest(url: server.url), "a")
        #expect(try await results.wait() == ["a: 0"])
        #expect(cache.memoryUsage == 0)
        ask(downloader, URLRequest(url: server.url), "b")
        #expect(try await results.wait(count: 2) == ["a: 0", "b: 16"])
        #expect(cache.memoryUsage == 16 * 8 * 4)
        server.stop()
    }
}
