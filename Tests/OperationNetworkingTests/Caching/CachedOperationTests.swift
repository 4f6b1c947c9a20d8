import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingSystem
@testable import OperationNetworkingTestSupport

/// Operations with a cache before the network, against a server that records its requests.
@Suite struct CachedOperationTests {
    @Test func aFreshResponseIsNotRequestedAgain() async throws {
        let scene = CacheScene(
            try ScriptedServer([
                .respond(200, ["Cache-Control": "max-age=60", "Content-Type": "text/a"], body: "one")
            ])
        )
        let first = await scene.fetch()
        #expect(first.responseSource == .network && first.text == "one")
        scene.pass(59)
        let second = await scene.fetch()
        #expect(second.responseSource == .cache && second.text == "one")
        #expect(second.response?.statusCode == 200)
        #expect(second.response?.value(forHTTPHeaderField: "Content-Type") == "text/a")
        #expect(second.response?.value(forHTTPHeaderField: "Age") == "59")
        #expect(second.metrics?.transferCount == 0 && second.metrics?.bytesReceived == 0)
        #expect(second.metrics?.bytesKept == 3)
        #expect(scene.server.requests.count == 1)
        scene.pass(2)
        #expect(await scene.fetch().responseSource == .network)
        #expect(scene.server.requests.count == 2)
    }

    @Test func aStaleResponseIsValidated() async throws {
        let server = try ScriptedServer { request in
            guard request.headers["If-None-Match"] == "\"v1\"" else {
                return .respond(200, ["ETag": "\"v1\"", "Cache-Control": "max-age=10"], body: "body")
            }
            return .respond(304, ["ETag": "\"v1\"", "Cache-Control": "max-age=100", "X-New": "yes"])
        }
        let scene = CacheScene(server)
        await scene.fetch()
        scene.pass(11)
        let validated = await scene.fetch()
        #expect(validated.responseSource == .validated && validated.text == "body")
        #expect(validated.response?.statusCode == 200)
        #expect(validated.response?.value(forHTTPHeaderField: "X-New") == "yes")
        #expect(validated.metrics?.transferCount == 1)
        scene.pass(90)
        #expect(await scene.fetch().responseSource == .cache)
        #expect(server.requests.count == 2)
    }

    /// Without quotes it cannot be sent, so the date asks; the server repeats it.
    @Test func anInvalidTagCostsOneRequestAndJoinsNothing() async throws {
        let modified = "Tue, 01 Sep 2026 00:00:00 GMT"
        let server = try ScriptedServer { request in
            let fields: FieldLines = [
                "ETag": "abc", "Last-Modified": modified, "Cache-Control": "max-age=10",
            ]
            guard request.headers["If-Modified-Since"] == modified else {
                return .respond(200, fields, body: "body")
            }
            return .respond(304, fields)
        }
        let scene = CacheScene(server)
        await scene.fetch()
        scene.pass(11)
        let validated = await scene.fetch()
        #expect(validated.responseSource == .validated && validated.text == "body")
        #expect(server.requests.map { $0.headers["If-Modified-Since"] } == [nil, modified])
        #expect(server.requests.map { $0.headers["If-None-Match"] } == [nil, nil])
        #expect(await scene.fetch().responseSource == .cache)
        #expect(scene.stored().map(\.ifRange) == [nil])
    }

    @Test func aChangedResponseReplacesTheStoredOne() async throws {
        let server = try ScriptedServer([
            .respond(200, ["ETag": "\"v1\"", "Cache-Control": "max-age=10"], body: "old"),
            .respond(200, ["ETag": "\"v2\"", "Cache-Control": "max-age=10"], body: "newer"),
        ])
        let scene = CacheScene(server)
        await scene.fetch()
        scene.pass(11)
        let changed = await scene.fetch()
        #expect(changed.responseSource == .network && changed.text == "newer")
        #expect(server.requests.last?.headers["If-None-Match"] == "\"v1\"")
        #expect(await scene.fetch().text == "newer")
        #expect(server.requests.count == 2)
    }

    @Test func a304AboutAnotherVersionIsAskedAgainWithoutACondition() async throws {
        let server = try ScriptedServer { request in
            request.headers["If-None-Match"] == nil
                ? .respond(200, ["ETag": "\"v1\"", "Cache-Control": "max-age=10"], body: "body")
                : .respond(304, ["ETag": "\"other\""])
        }
        let scene = CacheScene(server)
        await scene.fetch()
        scene.pass(11)
        let again = await scene.fetch()
        #expect(again.text == "body" && again.responseSource == .network && again.error == nil)
        #expect(server.requests.count == 3)
    }

    // MARK: - Policies of requests

    @Test func aReloadIgnoresTheCacheAndStoresTheResponse() async throws {
        let scene = CacheScene(
            try ScriptedServer([
                .respond(200, ["Cache-Control": "max-age=60"], body: "1"),
                .respond(200, ["Cache-Control": "max-age=60"], body: "2"),
                .respond(200, ["Cache-Control": "max-age=60"], body: "3"),
            ])
        )
        await scene.fetch()
        let local = await scene.fetch(policy: .reloadIgnoringLocalCacheData)
        #expect(local.text == "2" && scene.server.requests[1].headers["Cache-Control"] == nil)
        let remote = await scene.fetch(policy: .reloadIgnoringLocalAndRemoteCacheData)
        #expect(remote.text == "3" && scene.server.requests[2].headers["Cache-Control"] == "no-cache")
        #expect(await scene.fetch().text == "3")
    }

    @Test func thePolicyMayAllowAStaleResponse() async throws {
        let scene = CacheScene(
            try ScriptedServer([.respond(200, ["Cache-Control": "max-age=1"], body: "old")])
        )
        let nothing = await scene.fetch(policy: .returnCacheDataDontLoad)
        #expect((nothing.error as? URLError)?.code == .resourceUnavailable && scene.server.requests.isEmpty)
        let loaded = await scene.fetch(policy: .returnCacheDataElseLoad)
        #expect(loaded.responseSource == .network)
        scene.pass(1_000)
        for policy in [URLRequest.CachePolicy.returnCacheDataElseLoad, .returnCacheDataDontLoad] {
            let operation = await scene.fetch(policy: policy)
            #expect(operation.text == "old" && operation.responseSource == .stale && operation.error == nil)
        }
        #expect(scene.server.requests.count == 1)
    }

    @Test func aRevalidatingPolicyValidatesAFreshResponse() async throws {
        let server = try ScriptedServer { request in
            request.headers["If-None-Match"] == nil
                ? .respond(200, ["ETag": "\"v\"", "Cache-Control": "max-age=60"], body: "body")
                : .respond(304, ["ETag": "\"v\""])
        }
        let scene = CacheScene(server)
        await scene.fetch()
        #expect(await scene.fetch(policy: .reloadRevalidatingCacheData).responseSource == .validated)
        #expect(server.requests.count == 2)
    }

    @Test func onlyIfCachedIsAGatewayTimeoutWhereNothingIsStored() async throws {
        let scene = CacheScene(try ScriptedServer([.respond(body: "never")]))
        let operation = await scene.fetch("/", ["Cache-Control": "only-if-cached"])
        #expect(operation.response?.statusCode == 504 && operation.error == nil)
        #expect(scene.server.requests.isEmpty)
    }

    // MARK: - Failures

    @Test func aStaleResponseIsServedWithoutAServer() async throws {
        let server = try ScriptedServer([
            .respond(200, ["ETag": "\"v\"", "Cache-Control": "max-age=10"], body: "stale"),
            .hangUp,
        ])
        let scene = CacheScene(server)
        await scene.fetch()
        scene.pass(11)
        let stale = await scene.fetch()
        #expect(stale.text == "stale" && stale.responseSource == .stale && stale.error == nil)
    }

    @Test func mustRevalidateIsAnErrorWithoutAServer() async throws {
        let server = try ScriptedServer([
            .respond(200, ["ETag": "\"v\"", "Cache-Control": "max-age=10, must-revalidate"], body: "stale"),
            .hangUp,
        ])
        let scene = CacheScene(server)
        await scene.fetch()
        scene.pass(11)
        #expect(await scene.fetch().error != nil)
    }

    @Test func staleIfErrorAnswersForAFailingServer() async throws {
        let fields: FieldLines = ["ETag": "\"v\"", "Cache-Control": "max-age=10, stale-if-error=60"]
        let server = try ScriptedServer([.respond(200, fields, body: "stale"), .respond(503, body: "down")])
        let scene = CacheScene(server)
        await scene.fetch()
        scene.pass(11)
        let stale = await scene.fetch()
        #expect(stale.text == "stale" && stale.response?.statusCode == 200 && stale.responseSource == .stale)
        scene.pass(60)
        #expect(await scene.fetch().response?.statusCode == 503)
    }

    @Test func aRevalidationContinuesInTheBackground() async throws {
        let gate = Gate()
        let server = try ScriptedServer { request in
            guard request.headers["If-None-Match"] != nil else {
                return .respond(
                    200,
                    ["ETag": "\"v1\"", "Cache-Control": "max-age=10, stale-while-revalidate=60"],
                    body: "one"
                )
            }
            return .respond(200, ["ETag": "\"v2\"", "Cache-Control": "max-age=10"], body: "two")
                .held(after: .body(0), by: gate)
        }
        let scene = CacheScene(server)
        await scene.fetch()
        scene.pass(11)
        // Each of them is answered at once, and one request goes out.
        for _ in 0..<3 {
            let stale = await scene.fetch()
            #expect(stale.text == "one" && stale.responseSource == .stale)
        }
        try await server.waitForRequests(count: 2)
        gate.open()
        try await scene.waitForRevalidation()
        await scene.waitForChanges()
        let fresh = await scene.fetch()
        #expect(fresh.text == "two" && fresh.responseSource == .cache && server.requests.count == 2)
    }

    // MARK: - Variants, methods, secrets

    @Test func variantsAreKeptBesideEachOther() async throws {
        let server = try ScriptedServer { request in
            .respond(
                200,
                ["Vary": "Accept-Language", "Cache-Control": "max-age=60"],
                body: AnswerBody(stringLiteral: request.headers["Accept-Language"] ?? "none")
            )
        }
        let scene = CacheScene(server)
        for language in ["de", "fr", "de", "fr"] {
            #expect(await scene.fetch("/", ["Accept-Language": language]).text == language)
        }
        #expect(server.requests.count == 2)
    }

    @Test func anUnsafeMethodInvalidatesStoredResponses() async throws {
        let server = try ScriptedServer { request in
            request.method == "GET"
                ? .respond(200, ["Cache-Control": "max-age=60"], body: "body") : .respond(204)
        }
        let scene = CacheScene(server)
        await scene.fetch("/a")
        await scene.fetch(scene.request("/a", method: "DELETE"))
        #expect(await scene.fetch("/a").responseSource == .network)
        #expect(server.requests.map(\.method) == ["GET", "DELETE", "GET"])
    }

    @Test func aResponseIsForItsUser() async throws {
        let server = try ScriptedServer { request in
            .respond(
                200,
                ["Cache-Control": "max-age=60"],
                body: AnswerBody(stringLiteral: request.headers["Authorization"] ?? "none")
            )
        }
        let scene = CacheScene(server)
        for token in ["Bearer a", "Bearer b", "Bearer a"] {
            #expect(await scene.fetch("/", ["Authorization": token]).text == token)
        }
        #expect(await scene.fetch().text == "none")
        #expect(server.requests.count == 3)
    }

    @Test func aRedirectIsStoredAsItsServerSays() async throws {
        let server = try ScriptedServer(
            routes: [
                "/from": [.respond(301, ["Location": "/to", "Cache-Control": "max-age=60"])],
                "/to": [.respond(200, ["Cache-Control": "max-age=60"], body: "there")],
            ]
        )
        let scene = CacheScene(server)
        for _ in 0..<2 { #expect(await scene.fetch("/from").text == "there") }
        #expect(server.requests.count == 2)
    }

    // MARK: - Bodies

    @Test func aCodedBodyIsServedDecoded() async throws {
        // gzip of "hello", three times over.
        let coded = Data(
            base64Encoded: "H4sIAAAAAAAAA8tIzcnJBwCGphA2BQAAAA=="
        )
        let server = try ScriptedServer([
            .respond(
                200,
                ["Content-Encoding": "gzip", "Cache-Control": "max-age=60"],
                body: .data(try #require(coded))
            )
        ])
        let scene = CacheScene(server)
        for _ in 0..<2 { #expect(await scene.fetch().text == "hello") }
        #expect(server.requests.count == 1)
        // A file gets the bytes as they are sent: the stored ones are not.
        let directory = try TemporaryDirectory()
        let file = directory.url.appendingPathComponent("file")
        await scene.fetch(scene.request()) { $0.outputFile = file }
        #expect(server.requests.count == 2)
    }

    @Test func anEmptyBodyIsABody() async throws {
        let scene = CacheScene(try ScriptedServer([.respond(200, ["Cache-Control": "max-age=60"])]))
        await scene.fetch()
        let second = await scene.fetch()
        #expect(second.responseSource == .cache && second.responseData == Data() && second.error == nil)
    }

    @Test func aStoredBodyGoesToAFile() async throws {
        let body = AnswerBody.generated(length: 3 << 20)
        let server = try ScriptedServer([.respond(200, ["Cache-Control": "max-age=60"], body: body)])
        let directory = try TemporaryDirectory()
        let scene = CacheScene(
            server,
            diskCapacity: 64 << 20,
            directory: directory.url.appendingPathComponent("c")
        )
        let first = await scene.fetch()
        let file = directory.url.appendingPathComponent("file")
        let second = await scene.fetch(scene.request()) { $0.outputFile = file }
        #expect(second.error == nil && second.responseSource == .cache)
        #expect(try Data(contentsOf: file) == first.responseData)
        #expect(server.requests.count == 1)
    }

    /// A strong validator would let it be completed: that is for downloads.
    @Test(arguments: [nil, "\"v1\""]) func aBrokenBodyIsNeitherStoredNorCompleted(tag: String?) async throws {
        let fields: FieldLines =
            tag.map { ["Cache-Control": "max-age=60", "ETag": $0] } ?? ["Cache-Control": "max-age=60"]
        let server = try ScriptedServer([
            .respond(200, fields, body: "0123456789", breakingAfter: 4),
            .respond(200, fields, body: "0123456789"),
        ])
        let scene = CacheScene(server)
        #expect(await scene.fetch().error != nil)
        #expect(scene.stored().isEmpty)
        #expect(await scene.fetch().text == "0123456789")
        #expect(server.requests.map { $0.headers["Range"] } == [nil, nil])
        #expect(await scene.fetch().responseSource == .cache)
    }

    // MARK: - Pausing

    @Test(arguments: [0.0, 100]) func aPausedOperationContinuesFromWhatOthersHaveStored(later: Double)
        async throws
    {
        let representation = Representation(
            .generated(length: 400_000),
            entityTag: .strong("v1"),
            headers: ["Cache-Control": "max-age=60"]
        )
        let server = try ScriptedServer([
            .representation(representation).stalling(after: .body(150_000)), .representation(representation),
        ])
        let scene = CacheScene(server)
        let operation = scene.manager.operation(for: scene.request())
        let progress = Recorder<Int64>()
        operation.setDownloadProgress { _, total, _ in progress.append(total) }
        scene.manager.operationQueue.addOperation(operation)
        try await progress.wait()
        try await server.waitForStalls()
        operation.pause()
        try await networkThreadIsDone()
        // Another one asks for the whole: what the paused one has is its own.
        let other = await scene.fetch()
        #expect(other.responseData == representation.body.data && other.metrics?.bytesKept == 0)
        #expect(server.requests[1].headers["Range"] == nil)
        // The paused one goes on from the cache, which asks whether that is still good.
        scene.pass(later)
        operation.resume()
        _ = try? await operation.value
        #expect(operation.error == nil)
        #expect(operation.responseData == representation.body.data)
        #expect(server.requests.count == (later > 60 ? 3 : 2))
        #expect(operation.responseSource == (later > 60 ? .validated : .cache))
    }

    // MARK: - The caller's look

    @Test func theCallerSeesChangesAndRefusesWhatIsStored() async throws {
        let server = try ScriptedServer([.respond(200, ["Cache-Control": "max-age=60"], body: "as sent")])
        let scene = CacheScene(server)
        let seen = Recorder<String>()
        await scene.fetch(scene.request()) { operation in
            operation.setCacheResponse { proposed in
                seen.append(String(decoding: proposed.data, as: UTF8.self))
                return nil
            }
        }
        #expect(try await seen.wait() == ["as sent"])
        let stored = Gate()
        await scene.fetch(scene.request()) { operation in
            operation.setCacheResponse { proposed in
                defer { stored.open() }
                return CachedURLResponse(response: proposed.response, data: Data("changed".utf8))
            }
        }
        try await stored.wait()
        var text: String?
        // The closure has returned, and its answer is on its way.
        try await eventually {
            text = scene.cache.cachedResponse(for: scene.request()).map {
                String(decoding: $0.data, as: UTF8.self)
            }
            return text != nil
        }
        #expect(text == "changed")
        #expect(await scene.fetch().text == "changed")
        #expect(server.requests.count == 2)
    }

    // MARK: - Equal requests at the same time

    @Test func equalRequestsShareOneTransfer() async throws {
        let gate = Gate()
        let server = try ScriptedServer([
            .respond(200, ["Cache-Control": "max-age=60"], body: "shared").held(after: .body(3), by: gate)
        ])
        let scene = CacheScene(server)
        let operations = (0..<20).map { _ in scene.manager.operation(for: scene.request()) }
        scene.manager.operationQueue.maxConcurrentOperationCount = 20
        for operation in operations { scene.manager.operationQueue.addOperation(operation) }
        try await gate.waitForArrivals()
        operations[5].cancel()
        gate.open()
        for (index, operation) in operations.enumerated() where index != 5 {
            _ = try? await operation.value
            #expect(operation.text == "shared")
        }
        #expect(operations[5].isCancelled && server.requests.count == 1)
    }

    @Test func waitingRequestsContinueWhenTheFirstIsCancelled() async throws {
        let gate = Gate()
        let answer = Answer.respond(200, ["Cache-Control": "max-age=60"], body: "shared")
        let server = try ScriptedServer([answer.held(after: .body(3), by: gate), answer])
        let scene = CacheScene(server)
        let first = scene.manager.operation(for: scene.request())
        scene.manager.operationQueue.addOperation(first)
        try await gate.waitForArrivals()
        let second = scene.manager.operation(for: scene.request())
        scene.manager.operationQueue.addOperation(second)
        try await networkThreadIsDone()
        first.cancel()
        _ = try? await second.value
        #expect(second.text == "shared" && second.error == nil)
        gate.open()
    }

    @Test func noRequestWaitsForAnUnshareableResponse() async throws {
        let gate = Gate()
        let server = try ScriptedServer { _ in
            .respond(200, ["Cache-Control": "no-store"], body: "one").held(after: .body(1), by: gate)
        }
        let scene = CacheScene(server)
        let operations = (0..<4).map { _ in scene.manager.operation(for: scene.request()) }
        for operation in operations { scene.manager.operationQueue.addOperation(operation) }
        // All are under way at once, though none has ended.
        try await server.waitForRequests(count: 4)
        gate.open()
        for operation in operations { _ = try? await operation.value }
        #expect(operations.allSatisfy { $0.text == "one" })
    }

    // MARK: - The setting

    @Test func aManagersCacheIsTheOneThatWasSet() throws {
        let (one, other) = (OperationManager(), OperationManager())
        #expect(one.cache == nil)
        let cache = ResponseCache(memoryCapacity: 1 << 20, diskCapacity: 0, directory: nil)
        one.cache = cache
        other.cache = cache
        #expect(
            one.cache === cache
                && one.operation(for: URLRequest(url: URL(fileURLWithPath: "/"))).cache === cache
        )
        #expect(other.readTransferSettings { $0.cache } === cache)
        one.cache = nil
        #expect(one.cache == nil && one.readTransferSettings { $0.cache } == nil)
        var configuration = SessionConfiguration()
        configuration.settings.cache = cache
        #expect(URLSessionManager(configuration: configuration).cache === cache)
    }

    // MARK: - Without a cache

    @Test func withoutACacheThereIsNothingToLoad() async throws {
        let server = try ScriptedServer([.respond(body: "never")])
        var request = URLRequest(url: server.url)
        request.cachePolicy = .returnCacheDataDontLoad
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = DispatchQueue(label: "test")
        operation.start()
        _ = try? await operation.value
        #expect((operation.error as? URLError)?.code == .resourceUnavailable)
        #expect(server.requests.isEmpty)
    }
}
