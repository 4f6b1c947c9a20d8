import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// An operation that waits lends its place, so what it waits for can run; and it has one again before it goes on.
@Suite(.timeLimit(.minutes(2)))
struct WaitingPlaceTests {
    private static let token = "Bearer new"

    /// A server: `/bearer` and `/basic` want to know who asks, `/gone` has moved, `/busy` is that for 3 seconds, and
    /// `/silence` answers nothing.
    private final class Scene: Sendable {
        let server: ScriptedServer
        /// The most transfers that were seen at once.
        let peak = Locked(0)

        init() throws {
            let (peak, busy) = (peak, Locked(0))
            server = try ScriptedServer { request in
                countTransfers(upTo: peak)
                switch request.path {
                case "/bearer":
                    guard request["Authorization"] == WaitingPlaceTests.token else { return .respond(401) }
                case "/basic":
                    guard request["Authorization"] != nil else {
                        return .respond(401, ["WWW-Authenticate": "Basic realm=\"r\""])
                    }
                case "/gone":
                    return .respond(403, body: "expired")
                case "/busy":
                    let count = busy.withLock { busy in
                        busy += 1
                        return busy
                    }
                    if count == 1 { return .respond(503, ["Retry-After": "3"]) }
                case "/silence":
                    return .silence
                default:
                    break
                }
                return .respond(body: "four")
            }
        }

        func manager(_ queue: OperationQueue) -> OperationManager {
            let manager = OperationManager(baseURL: server.url)
            manager.responseSerializer = HTTPResponseSerializer()
            manager.operationQueue = queue
            manager.completionQueue = DispatchQueue(label: "callbacks")
            return manager
        }

        func operation(_ path: String) -> HTTPRequestOperation {
            let operation = HTTPRequestOperation(request: URLRequest(url: server.url(path: path)))
            operation.completionQueue = DispatchQueue(label: "callbacks")
            return operation
        }
    }

    /// Asks `ask` about the requests to one path.
    private struct Adapter: RequestAdapter {
        let path: String
        let ask: @Sendable () async throws -> Void

        func adapt(_ request: URLRequest, in context: RequestContext) async throws -> URLRequest {
            if request.url?.path == path { try await ask() }
            return request
        }
    }

    enum Question: CaseIterable, Sendable {
        case token, adapter, challenge

        var path: String {
            switch self {
            case .token: "/bearer"
            case .challenge: "/basic"
            case .adapter: "/a"
            }
        }

        /// Lets the manager ask `ask`.
        func prepare(_ manager: OperationManager, _ ask: @escaping @Sendable () async throws -> Void) {
            switch self {
            case .token:
                manager.tokenSource = TokenSource(TokenSource.Token("old")) { _ in
                    try await ask()
                    return TokenSource.Token("new")
                }
            case .adapter:
                manager.requestAdapters = [Adapter(path: path, ask: ask)]
            case .challenge:
                manager.setAuthenticationChallenge { _, _ in
                    _ = try? await ask()
                    return .use(Credential(user: "u", password: "p"))
                }
            }
        }
    }

    private static let questions = Question.allCases

    // MARK: - Code of the app

    @Test(arguments: SlotTests.Kind.allCases, [1, 2, 4])
    func whatAnOperationAsksItsManagerForRuns(_ kind: SlotTests.Kind, _ limit: Int) async throws {
        for question in Self.questions {
            let scene = try Scene()
            let queue = kind.queue(limit: limit)
            let manager = scene.manager(queue)
            question.prepare(manager) { _ = try await manager.get("refresh") }
            let tasks = (0..<10).map { _ in Task { try await manager.get(question.path) } }
            for task in tasks { _ = try await task.value }
            try await queue.waitUntilEmpty()
            #expect(queue.maxConcurrentOperationCount == limit)
            #expect(scene.peak.withLock { $0 } <= limit)
        }
    }

    @Test(arguments: SlotTests.Kind.allCases) func anotherManagerWithTheSameQueueIsNoOther(
        _ kind: SlotTests.Kind
    )
        async throws
    {
        let scene = try Scene()
        let queue = kind.queue(limit: 1)
        let (manager, other) = (scene.manager(queue), scene.manager(queue))
        Question.token.prepare(manager) { _ = try await other.get("refresh") }
        _ = try await manager.get("bearer")
        #expect(scene.server.requests.map(\.path) == ["/bearer", "/refresh", "/bearer"])
    }

    @Test(arguments: SlotTests.Kind.allCases, [1, 2, 4])
    func whatABatchWaitsForRuns(_ kind: SlotTests.Kind, _ limit: Int) async throws {
        let scene = try Scene()
        let queue = kind.queue(limit: limit)
        let manager = scene.manager(queue)
        Question.token.prepare(manager) { _ = try await manager.get("refresh") }
        let batch = OperationBatch(
            (0..<6).map { _ in manager.operation(for: URLRequest(url: scene.server.url(path: "/bearer"))) }
        )
        batch.add(to: queue)
        for result in await batch.results() { _ = try result.get() }
        #expect(scene.peak.withLock { $0 } <= limit)
    }

    @Test(arguments: SlotTests.Kind.allCases) func theNewAddressOfADownloadIsRequestedInItsQueue(
        _ kind: SlotTests.Kind
    ) async throws {
        let scene = try Scene()
        let folder = try TemporaryDirectory()
        let queue = kind.queue(limit: 1)
        let manager = scene.manager(queue)
        let download = DownloadOperation(
            request: URLRequest(url: scene.server.url(path: "/gone"), timeoutInterval: 1),
            to: folder.file("a")
        )
        download.completionQueue = DispatchQueue(label: "callbacks")
        download.setRefreshURL { [server = scene.server] _, _ in
            // Longer than the download's timeout.
            _ = try? await manager.get("silence") { $0.timeouts.total = 1.5 }
            _ = try? await manager.get("refresh")
            return server.url(path: "/new")
        }
        queue.addOperation(download)
        _ = try await download.value
        #expect(
            scene.server.requests.map(\.path).filter { $0 != "/silence" } == ["/gone", "/refresh", "/new"]
        )
        try await queue.waitUntilEmpty()
        #expect(queue.maxConcurrentOperationCount == 1)
    }

    /// The answer is not received before the closure has said what to do, and holds its connection.
    @Test(arguments: SlotTests.Kind.allCases) func aRedirectClosureMayAskItsServer(_ kind: SlotTests.Kind)
        async throws
    {
        let server = try ScriptedServer(routes: [
            "/a": .answers([
                .respond(302, ["Location": "/b"], body: .text(String(repeating: "a", count: 100_000)))
            ]),
            "/b": .answers([.respond(body: "b")]), "/ask": .answers([.respond(body: "yes")]),
        ])
        let queue = kind.queue(limit: 1)
        let manager = OperationManager(baseURL: server.url)
        manager.responseSerializer = HTTPResponseSerializer()
        manager.operationQueue = queue
        manager.maximumConnectionsPerHost = 1
        manager.completionQueue = DispatchQueue(label: "callbacks")
        let operation = manager.operation(for: URLRequest(url: server.url(path: "/a"), timeoutInterval: 10))
        operation.setRedirect { _, request, _ in
            let isAnswered = Gate()
            manager.get("ask", success: { _, _ in isAnswered.open() }, failure: { _, _ in isAnswered.open() })
            try? isAnswered.waitSynchronously()
            return request
        }
        queue.addOperation(operation)
        _ = try await operation.value
        #expect(server.requests.map(\.path) == ["/a", "/ask", "/b"])
    }

    @Test func aSessionsTokenSourceMayAskTheSession() async throws {
        let scene = try Scene()
        let session = HTTPSessionManager(baseURL: scene.server.url)
        session.responseSerializer = HTTPResponseSerializer()
        session.completionQueue = DispatchQueue(label: "callbacks")
        session.tokenSource = TokenSource(TokenSource.Token("old")) { _ in
            _ = try await session.get("refresh")
            return TokenSource.Token("new")
        }
        _ = try await session.get("bearer")
        #expect(scene.server.requests.map(\.path) == ["/bearer", "/refresh", "/bearer"])
    }

    /// The wait for code of the app is none for the server.
    @Test(arguments: Self.questions) func theTimeoutOfARequestDoesNotCountTheWait(_ question: Question)
        async throws
    {
        let scene = try Scene()
        let manager = scene.manager(SlotTests.Kind.ours.queue(limit: 1))
        question.prepare(manager) { _ = try? await manager.get("silence") { $0.timeouts.total = 1.5 } }
        let operation = manager.operation(
            for: URLRequest(url: scene.server.url(path: question.path), timeoutInterval: 1)
        )
        manager.operationQueue.addOperation(operation)
        _ = try await operation.value
    }

    @Test(arguments: Self.questions) func theTotalTimeoutCountsTheWait(_ question: Question) async throws {
        let scene = try Scene()
        let queue = SlotTests.Kind.ours.queue(limit: 1)
        let manager = scene.manager(queue)
        let gate = Gate()
        defer { gate.open() }
        question.prepare(manager) { try await gate.wait() }
        let error = await #expect(throws: URLError.self) {
            try await manager.get(question.path) { $0.timeouts.total = 0.5 }
        }
        #expect(error?.code == .timedOut)
        try await queue.waitUntilEmpty()
        #expect(queue.maxConcurrentOperationCount == 1)
    }

    // MARK: - While it waits

    /// In a queue for one, the first waits for its adapter, and the second has its place.
    private func waiting(_ scene: Scene, _ queue: OperationQueue, _ gate: Gate) async throws -> (
        first: HTTPRequestOperation, second: HTTPRequestOperation
    ) {
        let (first, second) = (scene.operation("/a"), scene.operation("/silence"))
        first.requestAdapters = [Adapter(path: "/a") { try await gate.wait() }]
        queue.addOperation(first)
        queue.addOperation(second)
        try await scene.server.waitForStalls(count: 1)
        #expect(first.isExecuting && second.isExecuting)
        return (first, second)
    }

    @Test(arguments: SlotTests.Kind.allCases) func itContinuesWhenItHasAPlaceAgain(_ kind: SlotTests.Kind)
        async throws
    {
        let scene = try Scene()
        let queue = kind.queue(limit: 1)
        let gate = Gate()
        let (first, second) = try await waiting(scene, queue, gate)
        let third = scene.operation("/third")
        queue.addOperation(third)
        gate.open()
        // Its ticket stands in the queue.
        try await queue.wait { $0 >= 4 }
        #expect(scene.server.requests.map(\.path) == ["/silence"])
        second.cancel()
        _ = try await third.value
        _ = try await first.value
        #expect(scene.server.requests.map(\.path) == ["/silence", "/a", "/third"])
    }

    @Test(arguments: SlotTests.Kind.allCases, [true, false])
    func aCancelEndsItAtOnce(_ kind: SlotTests.Kind, _ isReturning: Bool) async throws {
        let scene = try Scene()
        let queue = kind.queue(limit: 1)
        let gate = Gate()
        let (first, second) = try await waiting(scene, queue, gate)
        if isReturning {
            gate.open()
            try await queue.wait { $0 >= 3 }
        }
        first.cancel()
        await #expect(throws: URLError.self) { try await first.value }
        #expect(second.isExecuting)
        second.cancel()
        try await queue.waitUntilEmpty()
        #expect(queue.maxConcurrentOperationCount == 1 && scene.server.requests.map(\.path) == ["/silence"])
        gate.open()
    }

    @Test(arguments: SlotTests.Kind.allCases, [true, false])
    func aPauseLetsItWaitForItsResumption(_ kind: SlotTests.Kind, _ isReturning: Bool) async throws {
        let scene = try Scene()
        let queue = kind.queue(limit: 1)
        let gate = Gate()
        let (first, second) = try await waiting(scene, queue, gate)
        if isReturning {
            gate.open()
            try await queue.wait { $0 >= 3 }
        }
        first.pause()
        #expect(first.isPaused && !first.isExecuting)
        second.cancel()
        let third = scene.operation("/third")
        queue.addOperation(third)
        _ = try await third.value
        gate.open()
        first.resume()
        _ = try await first.value
        #expect(scene.server.requests.map(\.path) == ["/silence", "/third", "/a"])
        try await queue.waitUntilEmpty()
        #expect(queue.maxConcurrentOperationCount == 1)
    }

    /// Another one may have its place: only the queue knows when there is one.
    @Test(arguments: SlotTests.Kind.allCases) func inASuspendedQueueItWaitsForThat(_ kind: SlotTests.Kind)
        async throws
    {
        let scene = try Scene()
        let queue = kind.queue(limit: 1)
        let gate = Gate()
        let (first, second) = try await waiting(scene, queue, gate)
        queue.isSuspended = true
        gate.open()
        try await queue.wait { $0 >= 3 }
        second.cancel()
        try await eventually { second.isFinished }
        #expect(scene.server.requests.map(\.path) == ["/silence"])
        queue.isSuspended = false
        _ = try await first.value
    }

    @Test func aBarrierBehindAWaitDoesNotDeadlock() async throws {
        let scene = try Scene()
        let queue = SlotTests.Kind.ours.queue(limit: 1)
        let gate = Gate()
        let (first, second) = try await waiting(scene, queue, gate)
        let passed = Gate()
        queue.addBarrierBlock { passed.open() }
        gate.open()
        second.cancel()
        _ = try await first.value
        try await passed.wait()
    }

    @Test func waitingForAllOperationsOfTheQueueEnds() async throws {
        let scene = try Scene()
        let queue = SlotTests.Kind.foundations.queue(limit: 2)
        let manager = scene.manager(queue)
        Question.adapter.prepare(manager) { _ = try await manager.get("refresh") }
        let operations = (0..<6).map { _ in
            manager.operation(for: URLRequest(url: scene.server.url(path: "/a")))
        }
        let done = Gate()
        Thread.detachNewThread {
            queue.addOperations(operations, waitUntilFinished: true)
            queue.waitUntilAllOperationsAreFinished()
            done.open()
        }
        try await done.wait()
        #expect(queue.maxConcurrentOperationCount == 2)
    }

    // MARK: - A time

    private func policy(_ delay: TimeInterval = 0.001) -> RetryPolicy {
        var policy = RetryPolicy(maximumRetries: 3)
        policy.initialDelay = delay
        return policy
    }

    @Test(arguments: SlotTests.Kind.allCases) func whileOneWaitsForATimeOthersOfItsOriginAreNotBegun(
        _ kind: SlotTests.Kind
    ) async throws {
        let (busy, free) = (try Scene(), try Scene())
        let queue = kind.queue(limit: 1)
        let first = busy.operation("/busy")
        first.retryPolicy = policy()
        let own = (0..<5).map { _ in busy.operation("/own") }
        let others = (0..<5).map { _ in free.operation("/other") }
        let begun = Recorder<String>()
        for operation in own { operation.setCompletion(success: { _, _ in begun.append("own") }) }
        first.setCompletion(success: { _, _ in begun.append("first") })
        queue.addOperation(first)
        for (one, other) in zip(own, others) {
            queue.addOperation(one)
            queue.addOperation(other)
        }
        for operation in others { _ = try await operation.value }
        #expect(busy.server.requests.map(\.path) == ["/busy"])
        #expect(own.allSatisfy { !$0.isExecuting && !$0.isFinished })
        for operation in own + [first] { _ = try await operation.value }
        #expect(busy.server.requests.map(\.path) == ["/busy", "/busy"] + Array(repeating: "/own", count: 5))
        #expect(busy.peak.withLock { $0 } <= 1)
        try await queue.waitUntilEmpty()
        #expect(queue.maxConcurrentOperationCount == 1)
        _ = try await begun.wait(count: 6)
    }

    /// One that rests keeps its place towards its own origin; the others of a larger limit are theirs.
    @Test(arguments: SlotTests.Kind.allCases, [2, 4]) func theOtherPlacesAreForItsOriginToo(
        _ kind: SlotTests.Kind,
        _ limit: Int
    ) async throws {
        let scene = try Scene()
        let queue = kind.queue(limit: limit)
        let first = scene.operation("/busy")
        first.retryPolicy = policy()
        queue.addOperation(first)
        let held = (1...limit).map { _ in scene.operation("/silence") }
        try await scene.server.waitForAnswers(count: 1)
        for operation in held { queue.addOperation(operation) }
        try await scene.server.waitForStalls(count: limit - 1)
        _ = try await first.value
        // Now the last one has the place.
        try await scene.server.waitForStalls(count: limit)
        #expect(scene.server.requests.suffix(2).map(\.path) == ["/busy", "/silence"])
        queue.cancelAllOperations()
        try await queue.waitUntilEmpty()
        #expect(queue.maxConcurrentOperationCount == limit)
    }

    @Test(arguments: SlotTests.Kind.allCases) func oneThatStartsWhileAnotherBeginsToRestIsCounted(
        _ kind: SlotTests.Kind
    ) async throws {
        let (scene, free) = (try Scene(), try Scene())
        let queue = kind.queue(limit: 2)
        let slow = SlowStart(request: URLRequest(url: scene.server.url(path: "/silence")))
        queue.addOperation(slow)
        let first = scene.operation("/busy")
        first.retryPolicy = policy()
        queue.addOperation(first)
        // There is a place for it once the first one rests.
        let other = free.operation("/other")
        queue.addOperation(other)
        _ = try await other.value
        slow.mayGoOn.signal()
        try await scene.server.waitForStalls(count: 1)
        queue.addOperation(scene.operation("/silence"))
        _ = try await first.value
        try await scene.server.waitForStalls(count: 2)
        #expect(scene.server.requests.map(\.path) == ["/busy", "/silence", "/busy", "/silence"])
        queue.cancelAllOperations()
        try await queue.waitUntilEmpty()
    }

    @Test(arguments: SlotTests.Kind.allCases, ["pause", "cancel", "cancel all"])
    func deferredOperationsCanBePausedAndCancelled(_ kind: SlotTests.Kind, _ way: String) async throws {
        let (busy, free) = (try Scene(), try Scene())
        let queue = kind.queue(limit: 1)
        let (first, own, other) = (busy.operation("/busy"), busy.operation("/own"), free.operation("/other"))
        first.retryPolicy = policy()
        for operation in [first, own, other] { queue.addOperation(operation) }
        _ = try await other.value
        switch way {
        case "pause":
            own.pause()
            _ = try await first.value
            #expect(own.isPaused && busy.server.requests.count == 2)
            own.resume()
            _ = try await own.value
        case "cancel":
            own.cancel()
            await #expect(throws: URLError.self) { try await own.value }
            _ = try await first.value
            #expect(busy.server.requests.map(\.path) == ["/busy", "/busy"])
        default:
            queue.cancelAllOperations()
            for operation in [first, own] {
                await #expect(throws: URLError.self) { try await operation.value }
            }
        }
        try await queue.waitUntilEmpty()
        #expect(queue.maxConcurrentOperationCount == 1)
    }
}
