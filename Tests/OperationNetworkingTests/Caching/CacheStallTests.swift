import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingSystem
@testable import OperationNetworkingTestSupport

/// Disks that answer late, or never: no request fails, or hangs for longer than the timeout of the cache.
@Suite(.timeLimit(.minutes(1)))
struct CacheStallTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// A cache whose requests wait for the disk: what is to be stored is stored, and then found, on a busy machine,
    /// too. Only while the disk is stalled, a test has a scene of ``shortTimeout``.
    private func scene(_ server: ScriptedServer, memoryCapacity: Int = 0) -> CacheScene {
        CacheScene(
            server,
            memoryCapacity: memoryCapacity,
            diskCapacity: 64 << 20,
            directory: directory.file("cache"),
            timeout: 600
        )
    }

    private static let shortTimeout = 0.05

    /// Keeps a queue of the store from working until the gate opens.
    private func stall(_ queue: DispatchQueue, _ gate: Gate) async throws {
        let isStalled = Gate()
        queue.async {
            isStalled.open()
            try? gate.waitSynchronously()
        }
        try await isStalled.wait()
    }

    private static func stored(_ length: Int) -> Answer {
        .respond(200, ["Cache-Control": "max-age=600"], body: .generated(length: length))
    }

    private func waitForStore(_ scene: CacheScene) async throws {
        await onDispatchThread { scene.cache.store.waitForChanges() }
    }

    // MARK: - Look-ups

    @Test(arguments: [1_000, 300_000]) func aHangingLookupCountsAsAMiss(length: Int) async throws {
        let server = try ScriptedServer([Self.stored(length)])
        let scene = scene(server)
        await scene.fetch()
        try await waitForStore(scene)
        #expect(await scene.fetch().responseSource == .cache)
        let gate = Gate()
        try await stall(scene.cache.store.reading, gate)
        let operation = await scene.with(timeout: Self.shortTimeout).fetch()
        #expect(operation.error == nil && operation.responseSource == .network)
        #expect(operation.responseData?.count == length)
        gate.open()
        try await waitForStore(scene)
        #expect(await scene.fetch().responseSource == .cache)
        #expect(server.requests.count == 2)
    }

    /// Where only a stored response is wanted, there is nothing else: it is waited for as long as a server.
    @Test(arguments: [URLRequest.CachePolicy.returnCacheDataDontLoad, .useProtocolCachePolicy])
    func onlyRequestsForStoredResponsesWaitLonger(policy: URLRequest.CachePolicy) async throws {
        let server = try ScriptedServer([Self.stored(1_000)])
        let scene = scene(server)
        await scene.fetch()
        try await waitForStore(scene)
        let stalled = scene.with(timeout: Self.shortTimeout)
        let gate = Gate()
        try await stall(scene.cache.store.reading, gate)
        var request = scene.request("/", ["Cache-Control": "only-if-cached"], policy: policy)
        request.timeoutInterval = 0.2
        let operation = await stalled.fetch(request)
        if policy == .returnCacheDataDontLoad {
            #expect((operation.error as? URLError)?.code == .resourceUnavailable)
        } else {
            #expect(operation.response?.statusCode == 504 && operation.error == nil)
        }
        // One that waits longer gets it: the timeout of the cache has passed since it began to wait.
        request.timeoutInterval = 20
        let second = stalled.manager.operation(for: request)
        stalled.manager.operationQueue.addOperation(second)
        try await eventually { second.isExecuting }
        try await networkThreadIsDone()
        let hasPassed = Gate()
        stalled.cache.timeouts.wait(Self.shortTimeout) { hasPassed.open() }
        try await hasPassed.wait()
        gate.open()
        _ = try? await second.value
        #expect(second.responseSource == .cache && second.responseData?.count == 1_000)
        #expect(server.requests.count == 1)
    }

    // MARK: - Writing

    @Test(arguments: [0, 64 << 20])
    func aStalledDiskBlocksNoTransfer(memoryCapacity: Int) async throws {
        let server = try ScriptedServer([Self.stored(6 << 20)])
        let scene = scene(server, memoryCapacity: memoryCapacity)
        await scene.fetch("/other")
        try await waitForStore(scene)
        let gate = Gate()
        try await stall(scene.cache.store.writing, gate)
        let operation = await scene.with(timeout: Self.shortTimeout).fetch()
        #expect(operation.error == nil && operation.responseData?.count == 6 << 20)
        gate.open()
        try await waitForStore(scene)
        #expect(scene.cache.store.state.withLock { $0.waiting } == 0)
        // What was dropped has left nothing, and the disk is used again.
        #expect(try cacheNames(directory, .body).count == 1 && cacheNames(directory).count == 2)
        await scene.fetch()
        try await waitForStore(scene)
        #expect(await scene.fetch().responseSource == .cache)
    }

    /// The transfer is held while the disk is behind, and both the client and the store get all of it.
    @Test func aHeldTransferContinuesWhenTheDiskHasRoom() async throws {
        let server = try ScriptedServer([Self.stored(6 << 20)])
        let scene = scene(server)
        try await waitForStore(scene)
        for _ in 0..<3 {
            let gate = Gate()
            try await stall(scene.cache.store.writing, gate)
            let operation = scene.manager.operation(
                for: scene.request("/", policy: .reloadIgnoringLocalCacheData)
            )
            scene.manager.operationQueue.addOperation(operation)
            let state = scene.cache.store.state
            try await eventually { state.withLock { $0.waiting >= StoredBodyWriter.capacity } }
            try await networkThreadIsDone()
            #expect(!operation.isFinished)
            gate.open()
            _ = try? await operation.value
            #expect(operation.error == nil && operation.responseData?.count == 6 << 20)
            try await waitForStore(scene)
            #expect(await scene.fetch().responseSource == .cache)
        }
        #expect(server.requests.count == 3)
    }

    @Test func waitingRequestsDoNotWaitForAStalledDisk() async throws {
        let answers = Gate()
        let server = try ScriptedServer([
            Self.stored(6 << 20).held(after: .body(100), by: answers), Self.stored(6 << 20),
        ])
        let scene = scene(server).with(timeout: Self.shortTimeout)
        try await waitForStore(scene)
        let operations = (0..<3).map { _ in scene.manager.operation(for: scene.request()) }
        scene.manager.operationQueue.addOperation(operations[0])
        try await answers.waitForArrivals()
        for operation in operations.dropFirst() { scene.manager.operationQueue.addOperation(operation) }
        try await eventually { operations.allSatisfy { $0.isExecuting || $0.isFinished } }
        try await networkThreadIsDone()
        let gate = Gate()
        try await stall(scene.cache.store.writing, gate)
        answers.open()
        for operation in operations {
            _ = try? await operation.value
            #expect(operation.error == nil && operation.responseData?.count == 6 << 20)
        }
        gate.open()
        try await waitForStore(scene)
    }

    @Test func anOverloadedDiskReceivesNoMore() async throws {
        let store = ResponseStore.sample(directory, memory: 8 << 20)
        let gate = Gate()
        try await stall(store.writing, gate)
        var dropped = 0
        for number in 0..<120 {
            let key = CacheKey(url: "http://a/\(number)")
            let head = sampleHead(key.url, length: 1 << 20)
            guard let writer = store.write(head, for: key, replacing: []) else { continue }
            writer.append(sampleBytes(1 << 20).span)
            writer.commit(head) { _ in }
            if store.state.withLock({ !$0.takesForDisk }) { dropped += 1 }
        }
        #expect(dropped > 40)
        #expect(store.state.withLock { $0.waiting } <= StoreState.maximumWaiting + 1 << 20)
        gate.open()
        await onDispatchThread { store.waitForChanges() }
        #expect(store.state.withLock { $0.waiting } == 0)
        #expect(try await store.put(CacheKey(url: "http://a/last"), sampleBytes(2 << 20)) != nil)
    }

    // MARK: - Reading

    /// Another program cuts the file while it is handed over. It fails as a lost connection does, and is
    /// asked for the next time.
    @Test(arguments: [nil, "v1"]) func aShortBodyIsAnError(tag: String?) async throws {
        let representation = Representation(
            .generated(length: 8 << 20),
            entityTag: tag.map { .strong($0) },
            headers: ["Cache-Control": "max-age=60"]
        )
        let scene = scene(try ScriptedServer([.representation(representation)]))
        let first = try TemporaryDirectory()
        await scene.fetch(scene.request()) { $0.outputFile = first.file() }
        try await waitForStore(scene)
        let name = try #require(try cacheNames(directory, .body).first)
        let operation = scene.manager.operation(for: scene.request())
        var pieces = operation.bodyPieces().makeAsyncIterator()
        scene.manager.operationQueue.addOperation(operation)
        var bytes = try await pieces.next() ?? Data()
        truncate(cacheFolder(directory).appendingPathComponent(name).path, 4 << 20)
        var failed: (any Error)?
        do {
            while let piece = try await pieces.next() { bytes += piece }
        } catch {
            failed = error
        }
        #expect(failed != nil && bytes == representation.body.data.prefix(bytes.count))
        #expect(bytes.count < 8 << 20 && scene.server.requests.count == 1)
        // The failure is not there for ever.
        let again = await scene.fetch()
        #expect(again.error == nil && again.responseData?.count == 8 << 20)
    }
}
