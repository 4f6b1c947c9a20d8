import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingImages

/// One user's image is not another's: neither from a cache nor by sharing a transfer.
@Suite(.timeLimit(.minutes(1))) struct ImageAskerTests {
    /// A way in which a request names a user: as the first user, as the second.
    struct Naming: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let apply: @Sendable (OperationManager, inout URLRequest, _ user: Int) throws -> Void
        /// Whether each question is asked of the server, as who asks cannot be known.
        var isUnknown = false

        static let all: [Naming] = [
            Naming(testDescription: "an API key") { _, request, user in
                request.setValue("\(user)", forHTTPHeaderField: "X-API-Key")
            },
            Naming(testDescription: "a field of any name") { _, request, user in
                request.setValue("\(user)", forHTTPHeaderField: "X-Who")
            },
            Naming(testDescription: "Authorization") { _, request, user in
                request.setValue("\(user)", forHTTPHeaderField: "Authorization")
            },
            Naming(testDescription: "a Cookie field") { _, request, user in
                request.setValue("a=\(user)", forHTTPHeaderField: "Cookie")
            },
            Naming(testDescription: "a credential") { manager, _, user in
                manager.credential = Credential(bearerToken: "\(user)")
            },
            Naming(testDescription: "a token source") { manager, _, user in
                manager.tokenSource = TokenSource(TokenSource.Token("\(user)")) { _ in .init("\(user)") }
            },
            Naming(testDescription: "another token of one source") { manager, _, user in
                let source = manager.tokenSource ?? TokenSource { _ in .init("none") }
                source.token = TokenSource.Token("\(user)")
                manager.tokenSource = source
            },
            Naming(testDescription: "cookies of a jar") { manager, request, user in
                let cookie = HTTPCookie(properties: [
                    .name: "a", .value: "\(user)", .domain: request.url?.host ?? "", .path: "/",
                ])
                try manager.cookieJar?.set(#require(cookie))
            },
            Naming(testDescription: "another jar") { manager, request, user in
                manager.cookieJar = CookieJar()
                guard user == 2 else { return }
                let cookie = HTTPCookie(properties: [
                    .name: "a", .value: "2", .domain: request.url?.host ?? "", .path: "/",
                ])
                try manager.cookieJar?.set(#require(cookie))
            },
            Naming(
                testDescription: "an adapter",
                apply: { manager, _, user in
                    manager.requestAdapters = [
                        ClosureRequestAdapter { request, _ in
                            var request = request
                            request.setValue("\(user)", forHTTPHeaderField: "X-User")
                            return request
                        }
                    ]
                },
                isUnknown: true
            ),
        ]
    }

    private static let answer = Answer.respond(
        200,
        ["Content-Type": "image/png"],
        body: .data(ExampleImage.named("png"))
    )

    private func downloader(_ cache: (any ImageRequestCache)?) -> ImageDownloader {
        let manager = OperationManager()
        manager.responseSerializer = ImageResponseSerializer()
        manager.cookieJar = CookieJar()
        return ImageDownloader(manager: manager, imageCache: cache)
    }

    @Test(arguments: Naming.all)
    func theCacheKeepsUsersApart(_ naming: Naming) async throws {
        let server = try ScriptedServer { _ in Self.answer }
        let downloader = downloader(AutoPurgingImageCache(memoryPressure: nil))
        // The users one, two, one and two; one's second question is answered by the cache, if by anything.
        for (user, count) in [(1, 1), (2, 2), (1, 2), (2, 2)] {
            var request = URLRequest(url: server.url)
            try naming.apply(downloader.manager, &request, user)
            _ = try await downloader.image(for: request)
            // Of a source that is another object, nothing is known to be the same.
            let isOther = ["a token source", "another jar"].contains(naming.testDescription)
            if !naming.isUnknown, !isOther { #expect(server.requests.count == count) }
            if user == 2 { #expect(server.requests.count >= 2) }
        }
        if naming.isUnknown { #expect(server.requests.count == 4) }
    }

    @Test(arguments: Naming.all)
    func transfersAreSharedByOneUserOnly(_ naming: Naming) async throws {
        let gate = Gate()
        let server = try ScriptedServer { _ in Self.answer.held(by: gate) }
        let downloader = downloader(nil)
        var requests: [URLRequest] = []
        for user in [1, 2] {
            var request = URLRequest(url: server.url)
            try naming.apply(downloader.manager, &request, user)
            requests.append(request)
            downloader.downloadImage(for: request, completionQueue: DispatchQueue(label: "callbacks"))
            try await gate.waitForArrivals(user)
        }
        #expect(server.requests.count == 2)
        gate.open()
    }

    /// A cache whose keys are URLs.
    private final class PlainCache: ImageRequestCache {
        let images = AutoPurgingImageCache(memoryPressure: nil)

        func add(_ image: DecodedImage, for request: URLRequest, identifier: String?) {
            images.add(image, identifier: request.url?.absoluteString ?? "")
        }
        func removeImage(for request: URLRequest, identifier: String?) -> Bool { false }
        func removeAllImages() -> Bool { images.removeAllImages() }
        func image(for request: URLRequest, identifier: String?) -> DecodedImage? {
            images.image(identifier: request.url?.absoluteString ?? "")
        }
    }

    @Test(arguments: Naming.all)
    func aCacheOfOnesOwnHasNoImagesOfOneUser(_ naming: Naming) async throws {
        let server = try ScriptedServer { _ in Self.answer }
        let cache = PlainCache()
        let downloader = downloader(cache)
        _ = try await downloader.image(from: server.url)
        #expect(cache.images.memoryUsage > 0)
        _ = cache.removeAllImages()
        var request = URLRequest(url: server.url)
        try naming.apply(downloader.manager, &request, 2)
        _ = try await downloader.image(for: request)
        #expect(cache.images.memoryUsage == 0)
    }

    /// As whom it was sent is not known then.
    @Test func anImageWhoseUserChangedMeanwhileIsNotKept() async throws {
        let gate = Gate()
        let server = try ScriptedServer([Self.answer.held(by: gate)])
        let cache = AutoPurgingImageCache(memoryPressure: nil)
        let downloader = downloader(cache)
        downloader.manager.credential = Credential(bearerToken: "1")
        let url = server.url
        async let image = downloader.image(from: url)
        try await gate.waitForArrivals()
        downloader.manager.credential = nil
        gate.open()
        _ = try await image
        #expect(cache.memoryUsage == 0)
    }

    @Test func fieldsThatChooseNoImageDoNotCount() async throws {
        let server = try ScriptedServer { _ in Self.answer }
        let downloader = downloader(AutoPurgingImageCache(memoryPressure: nil))
        for (name, value) in [("Accept", "image/*"), ("User-Agent", "a"), ("traceparent", "00-1")] {
            var request = URLRequest(url: server.url)
            request.setValue(value, forHTTPHeaderField: name)
            _ = try await downloader.image(for: request)
        }
        #expect(server.requests.count == 1)
    }

    @Test func anImageIsRemovedForEveryUser() async throws {
        let server = try ScriptedServer { _ in Self.answer }
        let cache = AutoPurgingImageCache(memoryPressure: nil)
        let downloader = downloader(cache)
        let request = URLRequest(url: server.url)
        for user in ["1", "2"] {
            downloader.manager.credential = Credential(bearerToken: user)
            _ = try await downloader.image(for: request)
        }
        #expect(cache.memoryUsage > 0)
        #expect(cache.removeImage(for: request))
        #expect(cache.memoryUsage == 0 && !cache.removeImage(for: request))
    }

    @Test func aCredentialForAnotherOriginNamesNobody() async throws {
        let server = try ScriptedServer { _ in Self.answer }
        let manager = OperationManager(baseURL: URL(string: "https://example.com/"))
        manager.responseSerializer = ImageResponseSerializer()
        manager.cookieJar = nil
        let downloader = ImageDownloader(manager: manager, imageCache: AutoPurgingImageCache())
        for user in ["1", "2"] {
            manager.credential = Credential(bearerToken: user)
            _ = try await downloader.image(from: server.url)
        }
        #expect(server.requests.count == 1)
    }

    @Test func dumpsShowNoSecrets() throws {
        let manager = OperationManager()
        manager.credential = Credential(bearerToken: "secret")
        var request = URLRequest(url: try #require(URL(string: "http://h/")))
        request.setValue("secret", forHTTPHeaderField: "X-API-Key")
        let asker = try #require(ImageAsker(request, by: manager))
        var text = ""
        dump(ImageKey(request, nil, asker: asker), to: &text)
        dump(asker, to: &text)
        #expect(!text.contains("secret"))
    }
}
