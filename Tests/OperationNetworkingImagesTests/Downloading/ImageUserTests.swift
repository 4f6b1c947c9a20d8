import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingImages

/// One user's image is not another's: neither from a cache nor by sharing a transfer.
@Suite(.timeLimit(.minutes(1))) struct ImageUserTests {
    /// A way in which a request names a user: as the first user, as the second.
    struct Naming: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let apply: @Sendable (OperationManager, inout URLRequest, _ user: Int) throws -> Void
        /// Whether each request is sent to the server, as the user cannot be known.
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
                testDescription: "answers to challenges",
                apply: { manager, _, user in
                    manager.setAuthenticationChallenge { _, _ in
                        .use(Credential(user: "\(user)", password: ""))
                    }
                },
                isUnknown: true
            ),
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

    // MARK: - The security policy

    private static let policies = [
        SecurityPolicy.default, SecurityPolicy(allowInvalidCertificates: true, validatesDomainName: false),
    ]

    /// A server that one policy lets in, another one has to refuse.
    @Test func theCacheKeepsPoliciesApart() async throws {
        let server = try ScriptedServer { _ in Self.answer }
        let downloader = downloader(AutoPurgingImageCache(memoryPressure: nil))
        for (index, count) in [(1, 1), (0, 2), (1, 2), (0, 2)] {
            downloader.manager.securityPolicy = Self.policies[index]
            _ = try await downloader.image(from: server.url)
            #expect(server.requests.count == count)
        }
        downloader.manager.trustAnchors = .certificates([])
        _ = try await downloader.image(from: server.url)
        #expect(server.requests.count == 3)
    }

    @Test func transfersAreSharedUnderOnePolicyOnly() async throws {
        let gate = Gate()
        let server = try ScriptedServer { _ in Self.answer.held(by: gate) }
        let downloader = downloader(nil)
        for (index, policy) in Self.policies.enumerated() {
            downloader.manager.securityPolicy = policy
            downloader.downloadImage(
                for: URLRequest(url: server.url),
                completionQueue: DispatchQueue(label: "callbacks")
            )
            try await gate.waitForArrivals(index + 1)
        }
        #expect(server.requests.count == 2)
        gate.open()
    }

    @Test(arguments: policies)
    func aCustomCacheServesEveryPolicyWithoutAUser(policy: SecurityPolicy) async throws {
        let server = try ScriptedServer { _ in Self.answer }
        let downloader = downloader(PlainCache())
        downloader.manager.securityPolicy = policy
        for _ in 1...2 { _ = try await downloader.image(from: server.url) }
        #expect(server.requests.count == 1)
    }

    @Test(arguments: Naming.all)
    func aCustomCacheHasNoImagesOfASingleUser(_ naming: Naming) async throws {
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

    // MARK: - Redirects

    private static func cookie(_ user: Int, path: String, _ url: URL) throws -> HTTPCookie {
        try #require(
            HTTPCookie(properties: [
                .name: "user", .value: "\(user)", .domain: url.host ?? "", .path: path,
            ])
        )
    }

    /// `/avatar` leads to `/private/avatar`, by way of `/way`.
    private static func leading(_ gate: Gate? = nil) throws -> ScriptedServer {
        try ScriptedServer { request in
            switch request.path {
            case "/avatar": .redirect(to: "/way")
            case "/way": .redirect(to: "/private/avatar")
            default: gate.map { answer.held(by: $0) } ?? answer
            }
        }
    }

    @Test(arguments: ["/private", "/way"])
    func whatIsSentAfterARedirectNamesAUser(path: String) async throws {
        let server = try Self.leading()
        let downloader = downloader(AutoPurgingImageCache(memoryPressure: nil))
        let url = server.url(path: "/avatar")
        for user in [1, 2] {
            try downloader.manager.cookieJar?.set(Self.cookie(user, path: path, url))
            _ = try await downloader.image(from: url)
            #expect(server.requests.count == 3 * user)
        }
    }

    @Test func aRedirectIsSharedByOneUserOnly() async throws {
        let gate = Gate()
        let server = try Self.leading(gate)
        let downloader = downloader(nil)
        let url = server.url(path: "/avatar")
        for user in [1, 2] {
            try downloader.manager.cookieJar?.set(Self.cookie(user, path: "/private", url))
            downloader.downloadImage(
                for: URLRequest(url: url),
                completionQueue: DispatchQueue(label: "callbacks")
            )
            try await gate.waitForArrivals(user)
        }
        #expect(server.requests.count == 6)
        gate.open()
    }

    /// The cookie is gone when it ends.
    @Test func aRedirectWhoseUserChangedMeanwhileIsNotKept() async throws {
        let gate = Gate()
        let server = try Self.leading(gate)
        let cache = AutoPurgingImageCache(memoryPressure: nil)
        let downloader = downloader(cache)
        let url = server.url(path: "/avatar")
        try downloader.manager.cookieJar?.set(Self.cookie(1, path: "/private", url))
        async let image = downloader.image(from: url)
        try await gate.waitForArrivals()
        downloader.manager.cookieJar?.removeAll()
        gate.open()
        _ = try await image
        #expect(cache.memoryUsage == 0)
    }

    /// Images at another server, where pictures are kept, are for all; those of one user stay that user's.
    @Test(arguments: [nil, 1])
    func aRedirectThatNamesNoOtherUserIsKept(user: Int?) async throws {
        let server = try Self.leading()
        let downloader = downloader(AutoPurgingImageCache(memoryPressure: nil))
        let url = server.url(path: "/avatar")
        if let user { try downloader.manager.cookieJar?.set(Self.cookie(user, path: "/", url)) }
        for _ in 1...2 { _ = try await downloader.image(from: url) }
        #expect(server.requests.count == 3)
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
        for (name, value) in [
            ("Accept", "image/*"), ("User-Agent", "a"), ("traceparent", "00-1"), ("X-Request-Id", "1"),
            ("Idempotency-Key", "1"),
        ] {
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

    @Test func aCredentialForAnotherOriginNamesNoUser() async throws {
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
        let context = try #require(ImageContext(request, by: manager))
        var text = ""
        dump(ImageKey(request, nil, context: context), to: &text)
        dump(context, to: &text)
        #expect(!text.contains("secret"))
    }
}
