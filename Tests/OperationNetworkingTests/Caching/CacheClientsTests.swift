import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingSystem
@testable import OperationNetworkingTestSupport

/// The other features of operations, with a cache before the network.
@Suite(.timeLimit(.minutes(1)))
struct CacheClientsTests {
    /// The ways in which a stored response comes to an operation.
    enum Hit: CaseIterable {
        case fresh, validated, staleWhileRevalidate, joined
    }

    private static let body = AnswerBody.generated(length: 300_000)

    private static func server(_ gate: Gate) throws -> ScriptedServer {
        try ScriptedServer { request in
            guard request.headers["If-None-Match"] == nil else { return .respond(304, ["ETag": "\"v\""]) }
            let fields: FieldLines = [
                "ETag": "\"v\"", "Cache-Control": "max-age=10, stale-while-revalidate=100",
            ]
            let answer = Answer.respond(200, fields, body: body)
            return request.path == "/joined" ? answer.held(after: .body(1_000), by: gate) : answer
        }
    }

    // Prepares the hit, runs the operation that `make` has configured, and waits for its end. Whether it takes
    // a content coding has to be the same for both requests.
    private func run(
        _ hit: Hit,
        isDecoded: Bool = true,
        _ make: (HTTPRequestOperation) -> Void
    ) async throws -> HTTPRequestOperation {
        let directory = try TemporaryDirectory()
        let gate = Gate()
        let server = try Self.server(gate)
        let scene = CacheScene(server)
        let path = hit == .joined ? "/joined" : "/"
        let leader = scene.manager.operation(for: scene.request(path))
        if !isDecoded { leader.outputFile = directory.file("first") }
        scene.manager.operationQueue.addOperation(leader)
        if hit == .joined {
            try await gate.waitForArrivals()
        } else {
            _ = try await leader.value
        }
        if hit == .validated { scene.pass(200) }
        if hit == .staleWhileRevalidate { scene.pass(20) }
        let operation = scene.manager.operation(for: scene.request(path))
        make(operation)
        scene.manager.operationQueue.addOperation(operation)
        if hit == .joined {
            try await eventually { operation.isExecuting }
            try await networkThreadIsDone()
            gate.open()
        }
        _ = try? await operation.value
        let sources: [Hit: ResponseSource] = [
            .fresh: .cache, .validated: .validated, .staleWhileRevalidate: .stale, .joined: .cache,
        ]
        #expect(operation.error == nil && operation.responseSource == sources[hit], "\(hit)")
        #expect(server.requests.filter { $0.headers["If-None-Match"] == nil }.count == 1)
        return operation
    }

    @Test(arguments: Hit.allCases) func theBodyCanBeReadInPieces(_ hit: Hit) async throws {
        let read = Recorder<Data>()
        _ = try await run(hit, isDecoded: false) { operation in
            let pieces = operation.bodyPieces()
            Task {
                var all = Data()
                for try await piece in pieces { all += piece }
                read.append(all)
            }
        }
        #expect(try await read.wait() == [Self.body.data])
    }

    @Test(arguments: Hit.allCases) func theProgressReachesTheWhole(_ hit: Hit) async throws {
        let reports = Recorder<[Int64]>()
        let isOver = Gate()
        _ = try await run(hit) { operation in
            operation.setDownloadProgress { _, total, expected in reports.append([total, expected]) }
            operation.setCompletion(success: { _, _ in isOver.open() })
        }
        try await isOver.wait()
        #expect(reports.elements.last == [300_000, 300_000])
        #expect(reports.elements.allSatisfy { $0[0] <= 300_000 })
    }

    @Test(arguments: Hit.allCases) func theBodyGoesToAFile(_ hit: Hit) async throws {
        let directory = try TemporaryDirectory()
        _ = try await run(hit, isDecoded: false) { $0.outputFile = directory.file("body") }
        #expect(try Data(contentsOf: directory.file("body")) == Self.body.data)
    }

    // MARK: - Adapters

    @Test func aFieldOfAnAdapterSelectsTheVariant() async throws {
        let server = try ScriptedServer { request in
            .respond(
                200,
                ["Vary": "X-Tenant", "Cache-Control": "max-age=60"],
                body: .text(request.headers["X-Tenant"] ?? "none")
            )
        }
        let scene = CacheScene(server)
        for tenant in ["a", "b", "a", "b"] {
            scene.manager.requestAdapters = [
                ClosureRequestAdapter { request, _ in
                    var request = request
                    request.setValue(tenant, forHTTPHeaderField: "X-Tenant")
                    return request
                }
            ]
            #expect(await scene.fetch().text == tenant)
        }
        scene.manager.requestAdapters = []
        #expect(await scene.fetch().text == "none")
        #expect(server.requests.count == 3)
    }

    @Test(arguments: ["max-age=60", "max-age=60, private"])
    func theAuthorizationOfAnAdapterIsPartOfTheIdentity(cacheControl: String) async throws {
        let server = try ScriptedServer { request in
            .respond(
                200,
                ["Cache-Control": cacheControl],
                body: .text(request.headers["Authorization"] ?? "none")
            )
        }
        let scene = CacheScene(server)
        for user in ["a", "b", "a", "b"] {
            scene.manager.requestAdapters = [
                ClosureRequestAdapter { request, _ in
                    var request = request
                    request.setValue("Bearer " + user, forHTTPHeaderField: "Authorization")
                    return request
                }
            ]
            #expect(await scene.fetch().text == "Bearer " + user)
        }
        scene.manager.requestAdapters = []
        #expect(await scene.fetch().text == "none")
        #expect(server.requests.count == 3)
    }

    /// `public` lets a response serve others, and `Vary: Authorization` takes that back, however the
    /// credentials are sent (RFC 9111 §4.1).
    @Test func aPublicResponseThatVariesByCredentialsIsForOneUser() async throws {
        let server = try ScriptedServer { request in
            guard let proof = request.headers["Authorization"] else {
                return .respond(401, ["WWW-Authenticate": "Basic realm=\"r\""])
            }
            return .respond(
                200,
                ["Cache-Control": "public, max-age=60", "Vary": "Authorization"],
                body: .text(proof)
            )
        }
        let scene = CacheScene(server)
        var bodies: [String?] = []
        for user in ["ann", "bob", "ann", "bob"] {
            let operation = await scene.fetch(scene.request()) {
                $0.credential = Credential(user: user, password: "p")
            }
            #expect(operation.error == nil)
            bodies.append(operation.text)
        }
        #expect(Set(bodies).count == 2 && bodies[0] == bodies[2] && bodies[1] == bodies[3])
        #expect(server.requests.filter { $0.headers["Authorization"] != nil }.count == 2)
    }

    // MARK: - The caller's own look

    @Test func aURLIsRemovedForAllUsers() async throws {
        let directory = try TemporaryDirectory()
        let server = try ScriptedServer([.respond(200, ["Cache-Control": "max-age=60"], body: Self.body)])
        let scene = CacheScene(server, diskCapacity: 8 << 20, directory: directory.file("cache"))
        let host = try #require(server.url.host)
        for name in ["ann", "bob"] {
            let jar = CookieJar()
            let cookie = HTTPCookie(properties: [.name: "user", .value: name, .domain: host, .path: "/"])
            jar.set(try #require(cookie))
            scene.manager.cookieJar = jar
            await scene.fetch()
            #expect(await scene.fetch().responseSource == .cache)
            await scene.fetch("/other")
        }
        await onDispatchThread { [scene] in scene.cache.removeCachedResponse(for: scene.request()) }
        #expect(await scene.fetch().responseSource == .network)
        #expect(await scene.fetch("/other").responseSource == .cache)
    }

    @Test func aResponseStoredByTheCallerIsForItsUser() async throws {
        let server = try ScriptedServer([.respond(body: "from the server")])
        let scene = CacheScene(server)
        let request = scene.request("/", ["Authorization": "Bearer ann"])
        let fields = ["Cache-Control": "max-age=60"]
        let response = HTTPURLResponse(
            url: server.url,
            statusCode: 200,
            httpVersion: "HTTP/1.1",
            headerFields: fields
        )
        let secret = CachedURLResponse(response: try #require(response), data: Data("ann's".utf8))
        scene.cache.storeCachedResponse(secret, for: request)
        #expect(scene.cache.cachedResponse(for: request)?.data == Data("ann's".utf8))
        let bobs = scene.request("/", ["Authorization": "Bearer bob"])
        #expect(scene.cache.cachedResponse(for: bobs) == nil)
        #expect(await scene.fetch(request).text == "ann's")
        #expect(await scene.fetch(bobs).text == "from the server")
        #expect(await scene.fetch().text == "from the server")
    }

    @Test func aVariantByCredentialsIsFoundByThem() async throws {
        let server = try ScriptedServer { request in
            .respond(
                200,
                ["Cache-Control": "max-age=60", "Vary": "Authorization"],
                body: .text(request.headers["Authorization"] ?? "none")
            )
        }
        let scene = CacheScene(server)
        for token in ["Bearer a", "Bearer b"] {
            let request = scene.request("/", ["Authorization": token])
            await scene.fetch(request)
            #expect(scene.cache.cachedResponse(for: request)?.data == Data(token.utf8))
        }
    }

    /// The caller's closure cannot make a 304, or a part, of a response.
    @Test(arguments: [206, 304, 412]) func noStatusIsStoredThatAnswersNothing(status: Int) async throws {
        let server = try ScriptedServer([.respond(200, ["Cache-Control": "max-age=60"], body: "page")])
        let scene = CacheScene(server)
        let seen = Gate()
        await scene.fetch(scene.request()) { operation in
            operation.setCacheResponse { proposed in
                defer { seen.open() }
                guard let url = proposed.response.url,
                    let response = HTTPURLResponse(
                        url: url,
                        statusCode: status,
                        httpVersion: "HTTP/1.1",
                        headerFields: ["Cache-Control": "max-age=60"]
                    )
                else { return nil }
                return CachedURLResponse(response: response, data: proposed.data)
            }
        }
        try await seen.wait()
        for _ in 0..<20 { try await networkThreadIsDone() }
        let second = await scene.fetch()
        #expect(second.response?.statusCode == 200 && second.responseSource == .network)
    }

    // MARK: - Later words of the server

    @Test(arguments: ["GET", "HEAD"], [0, 300_000])
    func aServerMayForbidWhatIsKept(method: String, length: Int) async throws {
        let server = try ScriptedServer { request in
            let fields: FieldLines = ["ETag": "\"v\"", "Cache-Control": "no-store"]
            if request.method == "HEAD" { return .respond(200, fields, body: .generated(length: length)) }
            guard request.headers["If-None-Match"] == nil else { return .respond(304, fields) }
            return .respond(
                200,
                ["ETag": "\"v\"", "Cache-Control": "max-age=10"],
                body: .generated(length: length)
            )
        }
        let directory = try TemporaryDirectory()
        let scene = CacheScene(server, diskCapacity: 8 << 20, directory: directory.file("cache"))
        await scene.fetch()
        scene.pass(20)
        if method == "GET" {
            let last = await scene.fetch()
            #expect(last.responseSource == .validated && last.responseData?.count == length)
        } else {
            // A HEAD that is not answered from the cache.
            await scene.fetch(scene.request(method: "HEAD", policy: .reloadIgnoringLocalCacheData))
        }
        await scene.waitForChanges()
        #expect(scene.cache.cachedResponse(for: scene.request()) == nil)
        #expect(scene.cache.currentDiskUsage == 0)
    }

    // MARK: - In the background

    @Test func aRevalidationInTheBackgroundSetsCookies() async throws {
        let server = try ScriptedServer { request in
            guard request.headers["If-None-Match"] == nil else {
                return .respond(304, ["ETag": "\"v\"", "Set-Cookie": "renewed=yes; Path=/"])
            }
            return .respond(
                200,
                ["ETag": "\"v\"", "Cache-Control": "max-age=10, stale-while-revalidate=100"],
                body: "page"
            )
        }
        let scene = CacheScene(server)
        let jar = CookieJar()
        scene.manager.cookieJar = jar
        await scene.fetch()
        scene.pass(20)
        #expect(await scene.fetch().responseSource == .stale)
        try await server.waitForAnswers(count: 2)
        var names: [String] = []
        // The jar has a queue of its own.
        try await eventually {
            names = jar.cookies(for: server.url).map(\.name)
            return !names.isEmpty
        }
        #expect(names == ["renewed"])
    }

    // MARK: - Stubs and sessions

    @Test func stubbedResponsesAreStoredAndValidated() async throws {
        let stubs = RequestStubs([
            RequestStub(
                "GET",
                "/page",
                .content(Data("page".utf8), entityTag: "\"v\"", headers: ["Cache-Control": "max-age=10"])
            )
        ])
        let scene = CacheScene(try ScriptedServer([.respond(500)]))
        scene.manager.stubs = stubs
        #expect(await scene.fetch("/page").responseSource == .network)
        #expect(await scene.fetch("/page").responseSource == .cache)
        scene.pass(11)
        let validated = await scene.fetch("/page")
        #expect(validated.responseSource == .validated && validated.text == "page")
        #expect(stubs.requests.count == 2 && scene.server.requests.isEmpty)
        #expect(stubs.requests.last?.value(forHTTPHeaderField: "If-None-Match") == "\"v\"")
    }

    @Test func tasksOfASessionAreAnsweredFromItsCache() async throws {
        let server = try ScriptedServer([
            .respond(200, ["Cache-Control": "max-age=60"], body: Self.body)
        ])
        let directory = try TemporaryDirectory()
        var configuration = SessionConfiguration()
        configuration.downloadDirectory = directory.url
        configuration.settings.cache = ResponseCache(memoryCapacity: 8 << 20, diskCapacity: 0, directory: nil)
        let session = URLSessionManager.forTests(configuration)
        session.responseSerializer = HTTPResponseSerializer()
        for _ in 0..<2 {
            let ends = TaskEnds()
            session.dataTask(with: URLRequest(url: server.url), completion: ends.handler).resume()
            let end = try await ends.wait()
            #expect(end.error == nil && end.object as? Data == Self.body.data)
        }
        let ends = TaskEnds()
        let task = session.downloadTask(
            with: URLRequest(url: server.url),
            progress: nil,
            destination: { _, _ in directory.file("file") },
            completion: ends.fileHandler
        )
        task.resume()
        let end = try await ends.wait()
        #expect(end.error == nil)
        #expect(try Data(contentsOf: try #require(end.file)) == Self.body.data)
        #expect(server.requests.count == 1)
        session.invalidateSession(cancelingTasks: true)
    }
}
