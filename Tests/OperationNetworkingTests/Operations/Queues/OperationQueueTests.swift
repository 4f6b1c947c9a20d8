import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// An operation among others in an `OperationQueue`.
@Suite(.timeLimit(.minutes(1)))
struct OperationQueueTests {
    private let callbacks = DispatchQueue(label: "callbacks")

    private func operation(_ server: ScriptedServer, _ path: String = "/") -> HTTPRequestOperation {
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url(path: path)))
        operation.completionQueue = callbacks
        return operation
    }

    /// The server holds each answer until as many are held as may run: what runs then is counted while nothing changes.
    @Test(arguments: [1, 2, 5]) func theLimitIsObeyed(_ limit: Int) async throws {
        let gates = (0..<(60 / limit)).map { _ in Gate() }
        let server = try ScriptedServer(
            (0..<60).map { .respond(body: "hello").held(by: gates[$0 / limit]) }
        )
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = limit
        let operations = (0..<60).map { _ in operation(server) }
        for operation in operations { queue.addOperation(operation) }
        for (wave, gate) in gates.enumerated() {
            #expect(try await server.waitForRequests(count: (wave + 1) * limit).count == (wave + 1) * limit)
            #expect(operations.count { $0.isExecuting } == limit)
            gate.open()
        }
        for operation in operations { _ = try await operation.value }
        #expect(server.connectionsAccepted <= limit)
    }

    private func add(_ operation: HTTPRequestOperation, to queue: OperationQueue, _ way: String) {
        switch way {
        case "one": queue.addOperation(operation)
        case "some": queue.addOperations([operation], waitUntilFinished: false)
        default: OperationBatch([operation]).add(to: queue)
        }
    }

    @Test(arguments: ["one", "some", "batch"], [true, false])
    func anOperationResumedWhileItIsAddedStarts(way: String, isCancelling: Bool) async throws {
        let server = try ScriptedServer { _ in .respond(body: "a") }
        let operation = HastyOperation(URLRequest(url: server.url), isCancelling: isCancelling)
        let queue: OperationQueue = way == "batch" ? OperationQueue() : TransferQueue()
        add(operation, to: queue, way)
        let value = try? await operation.value
        #expect((value == nil) == isCancelling)
        // What was cancelled is known before it ends.
        await onDispatchThread { operation.waitUntilFinished() }
        #expect(operation.isFinished)
    }

    @Test func aDependentSeesTheObjectAndTheError() async throws {
        let server = try ScriptedServer(routes: [
            "/good": [.respond(200, ["Content-Type": "application/json"], body: "[1]")],
            "/bad": [.respond(500)],
        ])
        let good = operation(server, "/good")
        good.responseSerializer = JSONResponseSerializer()
        let bad = operation(server, "/bad")
        let seen = Recorder<String>()
        let dependent = BlockOperation {
            seen.append("\((good.responseObject as? [any Sendable])?.count ?? -1) \(bad.error != nil)")
        }
        dependent.addDependency(good)
        dependent.addDependency(bad)
        let queue = OperationQueue()
        for operation in [dependent, bad, good] { queue.addOperation(operation) }
        #expect(try await seen.wait() == ["1 true"])
    }

    @Test func aSuspendedQueueStartsNothing() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        let queue = OperationQueue()
        queue.isSuspended = true
        let operation = operation(server)
        queue.addOperation(operation)
        #expect(!operation.isExecuting && server.requests.isEmpty)
        queue.isSuspended = false
        #expect(try await operation.value as? Data == Data("hello".utf8))
    }

    @Test func anOperationThatWasPausedInItsQueueIsStartedByTheQueueOnceResumed() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let paused = operation(server, "/paused")
        let other = operation(server, "/other")
        paused.pause()
        #expect(!paused.isReady)
        queue.addOperation(paused)
        queue.addOperation(other)
        _ = try await other.value
        #expect(server.requests.map(\.path) == ["/other"])
        paused.resume()
        _ = try await paused.value
        #expect(server.requests.map(\.path) == ["/other", "/paused"])
        #expect(server.requests[1]["Range"] == nil)
    }

    @Test func aCancelledQueueFinishesEverything() async throws {
        let server = try ScriptedServer { _ in .silence }
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 3
        let operations = (0..<20).map { _ in operation(server) }
        let failures = Recorder<any Error>()
        for operation in operations {
            operation.setCompletion(success: nil, failure: { _, error in failures.append(error) })
            queue.addOperation(operation)
        }
        try await server.waitForStalls(count: 3)
        operations[0].pause()
        queue.cancelAllOperations()
        let errors = try await failures.wait(count: 20)
        #expect(errors.allSatisfy { ($0 as? URLError)?.code == .cancelled })
        let haveFinished = operations.allSatisfy { $0.isFinished }
        #expect(haveFinished)
    }

    @Test func waitingForTheQueueNeedsNeitherMainNorCallbacks() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        let blocked = DispatchQueue(label: "blocked")
        let gate = Gate()
        blocked.async { try? gate.waitSynchronously(within: .seconds(30)) }
        let operation = operation(server)
        operation.completionQueue = blocked
        let done = Gate()
        Thread.detachNewThread {
            let queue = OperationQueue()
            queue.addOperation(operation)
            queue.waitUntilAllOperationsAreFinished()
            done.open()
        }
        try await done.wait()
        #expect(operation.responseString == "hello")
        gate.open()
    }

    @Test func theEndComesInOrder() async throws {
        let server = try ScriptedServer { _ in .respond(body: "0123456789") }
        for queue in [callbacks, DispatchQueue(label: "concurrent", attributes: .concurrent)] {
            let operation = operation(server)
            operation.completionQueue = queue
            let events = Recorder<String>()
            operation.addObserver(Observer(events))
            operation.setDownloadProgress { _, total, _ in events.append("progress \(total)") }
            operation.setCompletion(
                success: { operation, _ in events.append("success \(operation.isFinished)") },
                failure: nil
            )
            operation.completionBlock = { events.append("block") }
            _ = ConnectionOperation.batch(
                of: [operation],
                completionQueue: queue,
                completion: { _ in events.append("batch") }
            )
            operation.start()
            #expect(
                try await events.wait(count: 7) == [
                    "start", "response 200", "progress 10", "finish true", "success true", "block", "batch",
                ]
            )
        }
    }

    @Test func startsAndEndsComeInPairs() async throws {
        let server = try ScriptedServer([.silence, .respond(body: "done")])
        let operation = operation(server)
        let events = Recorder<String>()
        operation.addObserver(Observer(events))
        operation.start()
        try await server.waitForStalls(count: 1)
        operation.pause()
        operation.resume()
        _ = try await operation.value
        #expect(
            try await events.wait(count: 5) == ["start", "pause", "resume", "response 200", "finish true"]
        )

        let cancelled = self.operation(server)
        cancelled.addObserver(Observer(events))
        cancelled.cancel()
        cancelled.start()
        #expect(try await events.wait(count: 6).last == "finish false")
    }

    private final class Observer: OperationObserver {
        private let events: Recorder<String>

        init(_ events: Recorder<String>) { self.events = events }

        func operationDidStart(_ operation: ConnectionOperation) { events.append("start") }
        func operationDidPause(_ operation: ConnectionOperation) { events.append("pause") }
        func operationDidResume(_ operation: ConnectionOperation) { events.append("resume") }
        func operation(_ operation: ConnectionOperation, didReceive response: HTTPURLResponse) {
            events.append("response \(response.statusCode)")
        }
        func operationDidFinish(_ operation: ConnectionOperation, wasRunning: Bool) {
            events.append("finish \(wasRunning)")
        }
    }

    @Test func closuresAndTheOperationAreReleased() async throws {
        final class Token: Sendable {}
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        weak var operation: HTTPRequestOperation?
        weak var token: Token?
        do {
            let strongToken = Token()
            let strong = self.operation(server)
            strong.setCompletion(
                success: { _, _ in _ = (strong, strongToken) },
                failure: { _, _ in _ = strong }
            )
            strong.setDownloadProgress { _, _, _ in _ = strong }
            strong.setRedirect { _, request, _ in
                _ = strong
                return request
            }
            strong.completionBlock = { _ = strong }
            (operation, token) = (strong, strongToken)
            let delivered = Gate()
            _ = ConnectionOperation.batch(
                of: [strong],
                completionQueue: callbacks,
                completion: { _ in delivered.open() }
            )
            strong.start()
            try await delivered.wait()
        }
        // The thread that reported the end may still be on its way out.
        try await eventually { operation == nil && token == nil }
    }

    /// Releasing what was set before may run anything, also what takes the operation's lock.
    @Test func whatIsReplacedIsReleasedOutsideTheLock() throws {
        final class Holder: Sendable {
            let operation: HTTPRequestOperation
            let released: Recorder<Bool>
            init(_ operation: HTTPRequestOperation, _ released: Recorder<Bool>) {
                self.operation = operation
                self.released = released
            }
            deinit {
                operation.setCompletion(success: nil, failure: nil)
                released.append(operation.isFinished)
            }
        }
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        let released = Recorder<Bool>()
        let operation = operation(server)
        func holder() -> Holder { Holder(operation, released) }
        operation.setDownloadProgress { [held = holder()] _, _, _ in _ = held }
        operation.setDownloadProgress(nil)
        operation.setRedirect { [held = holder()] _, request, _ in held.operation.isFinished ? nil : request }
        operation.setRedirect(nil)
        operation.setBodyStreamProvider { [held = holder()] in held.operation.inputStream }
        operation.setBodyStreamProvider(nil)
        operation.completionBlock = { [held = holder()] in _ = held }
        operation.completionBlock = nil
        operation.userInfo = ["holder": holder()]
        operation.userInfo = [:]
        operation.setCompletion(success: { [held = holder()] _, _ in _ = held }, failure: nil)
        operation.setCompletion(success: nil, failure: nil)
        #expect(released.elements == Array(repeating: false, count: 6))
    }

    @Test func theGroupIsEmptyAfterTheCallbacks() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        let group = DispatchGroup()
        let operation = operation(server)
        operation.completionGroup = group
        let events = Recorder<String>()
        operation.setCompletion(success: { _, _ in events.append("success") }, failure: nil)
        operation.start()
        _ = try await operation.value
        group.notify(queue: callbacks) { events.append("group") }
        #expect(try await events.wait(count: 2) == ["success", "group"])
    }

    @Test func aCopyHasTheSettings() throws {
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        let original = HTTPRequestOperation(request: URLRequest(url: url, timeoutInterval: 3))
        original.responseSerializer = JSONResponseSerializer()
        original.outputFile = URL(fileURLWithPath: "/tmp/x")
        original.completionQueue = callbacks
        original.completionGroup = DispatchGroup()
        original.userInfo = ["a": 1]
        original.trustAnchors = .file(URL(fileURLWithPath: "/tmp/ca"))
        original.maximumResponseDataLength = 5
        original.name = "name"
        original.queuePriority = .high

        let copy = try #require(original.copy() as? HTTPRequestOperation)

        #expect(copy !== original)
        #expect(copy.request == original.request)
        #expect(copy.responseSerializer is JSONResponseSerializer)
        #expect(copy.outputFile == original.outputFile)
        #expect(copy.completionQueue === callbacks && copy.completionGroup === original.completionGroup)
        #expect(copy.userInfo["a"] as? Int == 1)
        #expect(copy.trustAnchors == original.trustAnchors)
        #expect(copy.maximumResponseDataLength == 5)
        #expect(copy.name == "name" && copy.queuePriority == .high)
    }

    @Test func cancellingTheTaskCancelsTheOperation() async throws {
        let server = try ScriptedServer { _ in .silence }
        let operation = operation(server)
        operation.start()
        try await server.waitForStalls(count: 1)
        let task = Task { try await operation.value }
        task.cancel()
        await #expect(throws: URLError.self) { try await task.value }
        #expect(operation.isCancelled)
        _ = try? await operation.value
        #expect(operation.isFinished)
    }
}
