import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingSystem
@testable import OperationNetworkingTestSupport

/// Hits that need no exchange: what is looked for, what its answer is good for, and that no listener tells them
/// from others.
@Suite(.timeLimit(.minutes(1)))
struct CacheLookupTests {
    private static func stored(_ length: Int = 1_000, _ cacheControl: String = "max-age=600") -> Answer {
        .respond(200, ["Cache-Control": cacheControl], body: .generated(length: length))
    }

    /// The lookup of an operation that starts now.
    private func lookup(_ operation: ConnectionOperation) -> StartLookup? {
        operation.state.withLock { state in
            StartLookup(operation.exchangeConfiguration(state), .done(nil))
        }
    }

    private func ask(_ operation: ConnectionOperation) -> LookupAnswer? {
        lookup(operation)?.layer.ask { _ in Issue.record("Memory answers at once") }
    }

    // MARK: - What is stored

    enum Stored: CaseIterable {
        case fresh, empty, longest, tooLong, stale, staleWhileRevalidate, noCache, notFound, redirect

        var answer: Answer {
            switch self {
            case .fresh: CacheLookupTests.stored()
            case .empty: CacheLookupTests.stored(0)
            case .longest: CacheLookupTests.stored(Int(CacheLookup.maximumLength))
            case .tooLong: CacheLookupTests.stored(Int(CacheLookup.maximumLength) + 1)
            case .stale: CacheLookupTests.stored(1_000, "max-age=1")
            case .staleWhileRevalidate: CacheLookupTests.stored(1_000, "max-age=1, stale-while-revalidate=60")
            case .noCache: CacheLookupTests.stored(1_000, "no-cache, max-age=600")
            case .notFound: .respond(404, ["Cache-Control": "max-age=600"], body: "none")
            case .redirect: .respond(301, ["Cache-Control": "max-age=600", "Location": "/other"])
            }
        }

        var isKnown: Bool { [.fresh, .empty, .longest].contains(self) }
    }

    @Test(arguments: Stored.allCases) func onlyWhatAnswersAsItIsIsKnown(_ stored: Stored) async throws {
        let server = try ScriptedServer([stored.answer])
        let scene = CacheScene(server)
        scene.manager.redirectPolicy = .refuse
        await scene.fetch()
        scene.pass(5)
        let answer = try #require(ask(scene.manager.operation(for: scene.request())))
        switch answer {
        case .known(let response):
            #expect(stored.isKnown)
            #expect(response.head.status == 200 && response.metrics.source == .cache)
            #expect(response.head.fields["Age"] != nil)
            #expect(response.metrics.bytesKept == Int64(response.body.count))
        case .nothing: #expect(!stored.isKnown)
        case .later: Issue.record("Memory answers at once")
        }
        #expect(server.requests.count == 1)
    }

    @Test func aStaleResponseThatIsAcceptedIsKnown() async throws {
        let scene = CacheScene(try ScriptedServer([Self.stored(10, "max-age=1")]))
        await scene.fetch()
        scene.pass(5)
        let operation = await scene.fetch("/", ["Cache-Control": "max-stale=60"])
        #expect(operation.responseSource == .stale && operation.responseData?.count == 10)
    }

    // MARK: - What is asked

    enum Asked: CaseIterable {
        case plain, ownField
        case post, head, body, range, ownURLUser, credential, token, adapter, totalTime, stream, file, pieces
        case stubbed, noCache

        var isLookedFor: Bool { [.plain, .ownField].contains(self) }
    }

    @Test(arguments: Asked.allCases) func onlyPlainRequestsAreLookedFor(_ asked: Asked) async throws {
        let scene = CacheScene(try ScriptedServer([Self.stored()]))
        var request = scene.request()
        switch asked {
        case .post: request.httpMethod = "POST"
        case .head: request.httpMethod = "HEAD"
        case .body: request.httpBody = Data("a".utf8)
        case .range: request.setValue("bytes=0-9", forHTTPHeaderField: "Range")
        case .ownField: request.setValue("a", forHTTPHeaderField: "X-Own")
        case .ownURLUser: request.url = URL(string: "http://user@localhost/")
        default: break
        }
        let operation = scene.manager.operation(for: request)
        switch asked {
        case .credential: operation.credential = Credential(user: "a", password: "b")
        case .token: operation.tokenSource = TokenSource { _ in TokenSource.Token("token") }
        case .adapter: operation.requestAdapters = [ClosureRequestAdapter { request, _ in request }]
        case .totalTime: operation.timeouts.total = 5
        case .stream: operation.outputStream = OutputStream(toMemory: ())
        case .file: operation.outputFile = URL(fileURLWithPath: "/tmp/none")
        case .pieces: _ = operation.bodyPieces()
        case .stubbed: operation.changeTransferSettings { $0.stubs = RequestStubs() }
        case .noCache: operation.cache = nil
        default: break
        }
        #expect((lookup(operation) != nil) == asked.isLookedFor)
    }

    // MARK: - What is heard

    /// Notes all that observers hear of an operation.
    private final class Ear: OperationObserver {
        let heard = Locked<[String]>([])

        private func hear(_ text: String) { heard.withLock { $0.append(text) } }

        func operationDidStart(_ operation: ConnectionOperation) { hear("started") }
        func operation(_ operation: ConnectionOperation, didReceive response: HTTPURLResponse) {
            let fields = response.allHeaderFields.map { "\($0.key): \($0.value)" }.sorted()
            hear("received \(response.statusCode) \(response.url?.path ?? "") \(fields)")
        }
        func operation(
            _ operation: ConnectionOperation,
            didDownload bytes: Int,
            total: Int64,
            expected: Int64
        ) {
            hear("downloaded \(bytes) \(total) \(expected)")
        }
        func operationDidFinish(_ operation: ConnectionOperation, wasRunning: Bool) {
            hear("finished \(wasRunning)")
        }
    }

    private static let gzipped = Data(base64Encoded: "H4sIAAAAAAAAA8tIzcnJBwCGphA2BQAAAA==") ?? Data()

    enum Body: CaseIterable {
        case some, none, chunked, coded

        var answer: Answer {
            switch self {
            case .some: CacheLookupTests.stored()
            case .none: CacheLookupTests.stored(0)
            case .chunked:
                .respond(
                    200,
                    ["Cache-Control": "max-age=60", "Transfer-Encoding": "chunked"],
                    body: "5\r\nhello\r\n0\r\n\r\n"
                )
            case .coded:
                .respond(
                    200,
                    ["Content-Encoding": "gzip", "Cache-Control": "max-age=60"],
                    body: .data(CacheLookupTests.gzipped)
                )
            }
        }
    }

    /// A limit of all its time is counted by an exchange, which therefore begins.
    @Test(arguments: Body.allCases) func aHitTellsWhatAnExchangeTells(_ body: Body) async throws {
        let scene = CacheScene(try ScriptedServer([body.answer]))
        await scene.fetch()
        var heard: [[String]] = []
        var operations: [HTTPRequestOperation] = []
        for totalTimeout in [nil, 60.0] {
            let ear = Ear()
            let operation = scene.manager.operation(for: scene.request())
            let group = DispatchGroup()
            group.enter()
            let batch = OperationBatch([operation], completionQueue: DispatchQueue(label: "batch")) { _ in
                group.leave()
            }
            operation.timeouts.total = totalTimeout
            #expect((lookup(operation) != nil) == (totalTimeout == nil))
            let observation = operation.addObserver(ear)
            operation.setDownloadProgress { bytes, total, expected in
                ear.heard.withLock { $0.append("progress \(bytes) \(total) \(expected)") }
            }
            batch.add(to: scene.manager.operationQueue)
            await withCheckedContinuation { done in group.notify(queue: .global()) { done.resume() } }
            ear.heard.withLock { $0.append("batch \(batch.progress.fractionCompleted)") }
            withExtendedLifetime(observation) {}
            heard.append(ear.heard.withLock { $0 })
            operations.append(operation)
        }
        #expect(heard[0] == heard[1] && heard[0].count > 2)
        #expect(operations[0].responseData == operations[1].responseData)
        var metrics = try operations.map { try #require($0.metrics) }
        for index in metrics.indices { metrics[index].transferTime = 0 }
        #expect(metrics[0] == metrics[1])
        #expect(metrics[0].source == .cache && metrics[0].transferCount == 0)
        #expect(operations[0].metricsOfEachTransfer.count == operations[1].metricsOfEachTransfer.count)
        #expect(scene.server.requests.count == 1)
    }

    @Test func aHitDoesNotWaitForTheNetworkThread() async throws {
        let scene = CacheScene(try ScriptedServer([Self.stored()]))
        await scene.fetch()
        let gate = Gate()
        defer { gate.open() }
        NetworkThread.shared.perform { _ in try? gate.waitSynchronously(within: .seconds(10)) }
        let operation = await scene.fetch()
        #expect(!gate.isOpen && operation.responseSource == .cache && operation.error == nil)
    }

    @Test func aBodyThatIsTooLongForMemoryIsAnErrorAsItIsFromTheServer() async throws {
        let scene = CacheScene(try ScriptedServer([Self.stored()]))
        await scene.fetch()
        let operation = await scene.fetch(scene.request()) { $0.maximumResponseDataLength = 999 }
        #expect((operation.error as? URLError)?.code == .dataLengthExceedsMaximum)
    }

    @Test func aRefusedHitFailsAsAResponse() async throws {
        let scene = CacheScene(try ScriptedServer([Self.stored()]))
        await scene.fetch()
        let operation = await scene.fetch(scene.request()) {
            var serializer = HTTPResponseSerializer()
            serializer.acceptableStatusCodes = IndexSet(300..<400)
            $0.responseSerializer = serializer
        }
        #expect(operation.error != nil && operation.responseSource == .cache)
        #expect(operation.responseData?.count == 1_000)
    }

    // MARK: - Threads

    private struct Waiting: ResponseSerializer {
        let lock: Locked<Int>

        func responseObject(for response: HTTPURLResponse?, data: Data?) throws -> (any Sendable)? {
            lock.withLock { $0 += 1 }
            return data ?? Data()
        }
    }

    /// Inline, the serializer would take the lock that the caller holds.
    @Test func aSerializerRunsOnNoThreadOfTheCaller() async throws {
        let scene = CacheScene(try ScriptedServer([Self.stored()]))
        await scene.fetch()
        let lock = Locked(0)
        let operation = scene.manager.operation(for: scene.request())
        operation.responseSerializer = Waiting(lock: lock)
        lock.withLock { _ in operation.start() }
        await withCheckedContinuation { done in operation.whenFinished { done.resume() } }
        #expect(operation.responseSource == .cache && lock.withLock { $0 } == 1)
    }

    @Test func theTableOfWork() {
        let end = ExchangeEnd(error: nil, data: nil, metrics: TransferLog())
        var work = OperationWork.none
        func leavesNothing(_ effect: OperationStateMachine.Effect) -> Bool {
            if case nil = work.task(after: effect) { true } else { false }
        }
        #expect(leavesNothing(.begin) && !work.isAnswered)
        work = .answered(end, comes: true)
        #expect(leavesNothing(.begin) && leavesNothing(.abandon) && work.isAnswered)
        for effect in [OperationStateMachine.Effect.begin, .abandon] {
            work.keepEnd()
            guard case .finish(let kept)? = work.task(after: effect) else {
                Issue.record("\(effect)")
                continue
            }
            #expect(kept === end)
            // One end is enough.
            #expect(leavesNothing(effect))
        }
        work.keepEnd()
        #expect(leavesNothing(.suspend) && leavesNothing(.finish))
    }

    // MARK: - Pauses and cancels

    /// A store that answers when the gate opens.
    private func stalled(
        _ body: (CacheScene, HTTPRequestOperation, _ answer: () async throws -> Void) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let scene = CacheScene(
            try ScriptedServer([Self.stored(), Self.stored()]),
            memoryCapacity: 0,
            diskCapacity: 64 << 20,
            directory: directory.file("cache"),
            patience: 30
        )
        let store = scene.cache.store
        await scene.fetch()
        await onDispatchThread { store.waitForChanges() }
        let (gate, isStalled) = (Gate(), Gate())
        defer { gate.open() }
        store.index.async {
            isStalled.open()
            try? gate.waitSynchronously()
        }
        try await isStalled.wait()
        let operation = scene.manager.operation(for: scene.request())
        operation.start()
        #expect(operation.isExecuting)
        #expect(operation.state.withLock { if case .lookup = $0.work { true } else { false } })
        try await body(scene, operation) {
            gate.open()
            await onDispatchThread { store.answers.sync {} }
            await onDispatchThread { ConnectionOperation.processingQueue.sync(flags: .barrier) {} }
        }
        #expect(scene.server.requests.count == 1)
    }

    @Test func anAnswerThatComesInAPauseIsNotUsed() async throws {
        try await stalled { _, operation, answer in
            operation.pause()
            try await answer()
            #expect(operation.isPaused && !operation.isFinished && operation.response == nil)
            operation.resume()
            _ = try? await operation.value
            #expect(operation.error == nil && operation.responseSource == .cache)
        }
    }

    @Test func anAnswerOfBeforeAPauseIsNotUsedAfterIt() async throws {
        try await stalled { _, operation, answer in
            operation.pause()
            operation.resume()
            try await answer()
            _ = try? await operation.value
            #expect(operation.error == nil && operation.responseSource == .cache)
        }
    }

    @Test func aCancelDoesNotWaitForTheAnswer() async throws {
        try await stalled { _, operation, answer in
            operation.cancel()
            _ = try? await operation.value
            #expect((operation.error as? URLError)?.code == .cancelled && operation.isFinished)
            try await answer()
            #expect(operation.response == nil && (operation.error as? URLError)?.code == .cancelled)
        }
    }

    @Test func anOperationThatIsLookedForAnswersItsArchive() async throws {
        try await stalled { _, operation, answer in
            let archive = try #require(operation.archive)
            #expect(archive.makeOperation().isReady)
            try await answer()
            _ = try? await operation.value
        }
    }

    private struct Held: ResponseSerializer {
        let gate: Gate
        let calls = Locked(0)

        func responseObject(for response: HTTPURLResponse?, data: Data?) throws -> (any Sendable)? {
            calls.withLock { $0 += 1 }
            try gate.waitSynchronously()
            return data
        }
    }

    /// A hit that was told, and waits for its serializer.
    private func told(
        _ body: (HTTPRequestOperation, _ serializer: Held) async throws -> Void
    ) async throws -> [String] {
        let scene = CacheScene(try ScriptedServer([Self.stored()]))
        await scene.fetch()
        let (ear, serializer) = (Ear(), Held(gate: Gate()))
        let operation = scene.manager.operation(for: scene.request())
        operation.responseSerializer = serializer
        let observation = operation.addObserver(ear)
        operation.start()
        try await serializer.gate.waitForArrivals()
        try await body(operation, serializer)
        _ = try? await operation.value
        await withCheckedContinuation { done in
            operation.completionBlock = { done.resume() }
        }
        withExtendedLifetime(observation) {}
        #expect(scene.server.requests.count == 1)
        return ear.heard.withLock { $0 }
    }

    @Test func anEndThatComesInAPauseIsKept() async throws {
        let heard = try await told { operation, serializer in
            operation.pause()
            serializer.gate.open()
            await onDispatchThread { ConnectionOperation.processingQueue.sync(flags: .barrier) {} }
            #expect(operation.isPaused && !operation.isFinished)
            operation.resume()
            _ = try? await operation.value
            #expect(operation.error == nil && operation.responseData?.count == 1_000)
            #expect(serializer.calls.withLock { $0 } == 1)
        }
        #expect(heard.count { $0.hasPrefix("received") } == 1 && heard.last == "finished true")
        #expect(heard.count { $0.hasPrefix("downloaded") } == 1)
    }

    @Test func aCancelKeepsWhatWasTold() async throws {
        let heard = try await told { operation, serializer in
            operation.cancel()
            serializer.gate.open()
            _ = try? await operation.value
            #expect((operation.error as? URLError)?.code == .cancelled)
            #expect(operation.responseData?.count == 1_000 && operation.responseSource == .cache)
        }
        #expect(heard.last == "finished true")
    }

    @Test func aCancelInAPauseKeepsWhatWasTold() async throws {
        _ = try await told { operation, serializer in
            operation.pause()
            serializer.gate.open()
            await onDispatchThread { ConnectionOperation.processingQueue.sync(flags: .barrier) {} }
            operation.cancel()
            _ = try? await operation.value
            #expect((operation.error as? URLError)?.code == .cancelled)
            #expect(operation.responseData?.count == 1_000 && operation.isFinished)
        }
    }

    /// The caller's lock is held: what is released at the end of an operation may want it.
    @Test func nothingOfTheCallersIsReleasedInStart() async throws {
        final class Holder: Sendable {
            let lock: Locked<Int>
            init(_ lock: Locked<Int>) { self.lock = lock }
            deinit { lock.withLock { $0 += 1 } }
        }
        let scene = CacheScene(try ScriptedServer([Self.stored()]))
        await scene.fetch()
        let lock = Locked(0)
        let operation = scene.manager.operation(for: scene.request())
        operation.setRedirect { [holder = Holder(lock)] _, request, _ in
            withExtendedLifetime(holder) { request }
        }
        lock.withLock { _ in operation.start() }
        await withCheckedContinuation { done in operation.whenFinished { done.resume() } }
        #expect(operation.responseSource == .cache)
    }

    @Test func manyHitsPausedAndCancelledAtAnyTimeAllEnd() async throws {
        let scene = CacheScene(try ScriptedServer([Self.stored()]))
        await scene.fetch()
        let operations = (0..<400).map { _ in scene.manager.operation(for: scene.request()) }
        for operation in operations { scene.manager.operationQueue.addOperation(operation) }
        for (index, operation) in operations.enumerated() {
            if index % 3 == 0 { operation.pause() }
            if index % 5 == 0 { operation.cancel() }
            operation.resume()
        }
        for (index, operation) in operations.enumerated() {
            _ = try? await operation.value
            let isCancelled = (operation.error as? URLError)?.code == .cancelled
            #expect(operation.isFinished && (operation.responseData?.count == 1_000 || isCancelled))
            #expect(index % 5 == 0 || operation.error == nil)
        }
        #expect(scene.server.requests.count == 1)
    }
}
