import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingSystem
@testable import OperationNetworkingTestSupport

/// Schedules and answers in which a cache before the network could do harm.
@Suite(.timeLimit(.minutes(1)))
struct CachedTransferTests {
    private static let representation = Representation(
        .text("0123456789"),
        entityTag: .strong("v1"),
        headers: ["Cache-Control": "max-age=60"]
    )
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func download(_ scene: CacheScene, _ request: URLRequest, _ name: String) -> DownloadOperation {
        let operation = DownloadOperation(request: request, to: directory.file(name))
        operation.completionQueue = scene.manager.completionQueue
        operation.changeTransferSettings { settings in
            settings = scene.manager.readTransferSettings { $0 }
        }
        return operation
    }

    // MARK: - Connections

    @Test func aDownloadThatWaitsForAnEqualOneHasNoConnection() async throws {
        let gate = Gate()
        let server = try ScriptedServer(
            routes: [
                "/same": [.representation(Self.representation).held(after: .body(3), by: gate)],
                "/other": [.respond(body: "other")],
            ]
        )
        let scene = CacheScene(server)
        scene.manager.maximumConnectionsPerHost = 2
        let queue = OperationQueue()
        let first = download(scene, scene.request("/same"), "first")
        queue.addOperation(first)
        try await gate.waitForArrivals()
        let waiting = (0..<3).map { download(scene, scene.request("/same"), "waiting \($0)") }
        for operation in waiting { queue.addOperation(operation) }
        try await networkThreadIsDone()
        for operation in waiting { operation.cancel() }
        for operation in waiting { _ = try? await operation.value }
        // One connection is the first's; the other one is free.
        #expect(await scene.fetch("/other").text == "other")
        gate.open()
        _ = try await first.value
        #expect(try Data(contentsOf: directory.file("first")) == Data("0123456789".utf8))
    }

    @Test func aDownloadThatMayNotLoadGivesItsConnectionBack() async throws {
        let server = try ScriptedServer([.respond(body: "loaded")])
        let scene = CacheScene(server)
        scene.manager.maximumConnectionsPerHost = 1
        let queue = OperationQueue()
        for number in 0..<3 {
            let request = scene.request(policy: .returnCacheDataDontLoad)
            let operation = download(scene, request, "absent \(number)")
            queue.addOperation(operation)
            await #expect(throws: URLError.self) { _ = try await operation.value }
        }
        #expect(await scene.fetch().text == "loaded")
    }

    @Test func equalDownloadsWithOneConnectionEnd() async throws {
        let server = try ScriptedServer([.representation(Self.representation)])
        let scene = CacheScene(server)
        scene.manager.maximumConnectionsPerHost = 1
        let queue = OperationQueue()
        let downloads = (0..<6).map { download(scene, scene.request(), "equal \($0)") }
        let files = (0..<6).map { number in
            let operation = scene.manager.operation(for: scene.request())
            operation.outputFile = directory.file("file \(number)")
            return operation
        }
        for (one, other) in zip(downloads, files) {
            queue.addOperation(one)
            queue.addOperation(other)
        }
        for operation in downloads + files { _ = try? await operation.value }
        #expect((downloads + files).allSatisfy { $0.error == nil })
        #expect(server.requests.count < 12)
    }

    // MARK: - Commands at any time

    /// Pauses, resumes and cancels while stored and new bytes come, with files and memory.
    @Test(arguments: 0..<4) func commandsLoseNothing(seed: Int) async throws {
        let body = AnswerBody.generated(length: 2 << 20)
        let representation = Representation(
            body,
            entityTag: .strong("v"),
            headers: ["Cache-Control": "max-age=\(seed % 2 == 0 ? 60 : 0)"]
        )
        let server = try ScriptedServer { _ in .representation(representation) }
        let scene = CacheScene(server, diskCapacity: 64 << 20, directory: directory.file("cache"))
        var random = SeededGenerator(seed: UInt64(seed) + 1)
        for round in 0..<12 {
            let operations = (0..<4).map { index in
                let operation = scene.manager.operation(for: scene.request("/\(round % 3)"))
                if index % 2 == 1 { operation.outputFile = directory.file("\(seed) \(round) \(index)") }
                return operation
            }
            for operation in operations { scene.manager.operationQueue.addOperation(operation) }
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                let operation = operations.randomElement(using: &random)
                operation?.pause()
                if Bool.random(using: &random) { try await networkThreadIsDone() }
                operation?.resume()
            }
            let cancelled = operations.randomElement(using: &random)
            if Bool.random(using: &random) { cancelled?.cancel() }
            for (index, operation) in operations.enumerated() {
                _ = try? await operation.value
                guard !operation.isCancelled else { continue }
                #expect(operation.error == nil, "\(seed) \(round) \(index)")
                let data =
                    index % 2 == 1
                    ? try Data(contentsOf: directory.file("\(seed) \(round) \(index)"))
                    : operation.responseData
                #expect(data == body.data, "\(seed) \(round) \(index)")
            }
        }
    }

    // MARK: - Who asks

    @Test func twoJarsAreTwoUsers() async throws {
        let server = try ScriptedServer { request in
            .respond(
                200,
                ["Cache-Control": "max-age=60"],
                body: .text(request.headers["Cookie"] ?? "none")
            )
        }
        let scene = CacheScene(server)
        let host = try #require(server.url.host)
        for name in ["ann", "bob"] {
            let jar = CookieJar()
            let cookie = HTTPCookie(properties: [.name: "user", .value: name, .domain: host, .path: "/"])
            jar.set(try #require(cookie))
            scene.manager.cookieJar = jar
            for _ in 0..<2 { #expect(await scene.fetch().text == "user=\(name)") }
        }
        #expect(server.requests.count == 2)
    }
}
