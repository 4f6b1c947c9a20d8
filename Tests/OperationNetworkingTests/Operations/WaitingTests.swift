import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// A task that waits gets out when it is cancelled, whatever holds up what it waits for.
@Suite(.timeLimit(.minutes(2)))
struct WaitingTests {
    /// The obstacle that keeps an operation from its end.
    enum Obstacle: CaseIterable {
        case noQueue
        case suspendedQueue
        case limitOfZero
        case endlessDependency
        case barrier
        case paused
        case pausedWhileExecuting
        case silentServer
        case blockedSerializer
        case blockedStream
    }

    /// An operation that does not get to its end until the scene is torn down.
    private final class Scene {
        let gate = Gate()
        let queue = TransferQueue()
        let server: ScriptedServer
        let operation: HTTPRequestOperation
        private let endless = BlockOperation {}

        init(_ obstacle: Obstacle, completionQueue: DispatchQueue? = nil) async throws {
            let server = try ScriptedServer(
                routes: ["/silent": [.silence]],
                otherwise: [.respond(body: "hello")]
            )
            self.server = server
            let isSilent = obstacle == .silentServer || obstacle == .pausedWhileExecuting
            operation = HTTPRequestOperation(
                request: URLRequest(url: server.url(path: isSilent ? "/silent" : "/"))
            )
            operation.completionQueue = completionQueue ?? DispatchQueue(label: "callbacks")
            switch obstacle {
            case .noQueue:
                return
            case .suspendedQueue:
                queue.isSuspended = true
            case .limitOfZero:
                queue.maxConcurrentOperationCount = 0
            case .endlessDependency:
                operation.addDependency(endless)
            case .barrier:
                let gate = gate
                queue.addOperation { try? gate.waitSynchronously(within: .seconds(60)) }
                queue.addBarrierBlock {}
            case .paused:
                operation.pause()
            case .pausedWhileExecuting, .silentServer:
                break
            case .blockedSerializer:
                operation.responseSerializer = BlockedSerializer(gate: gate)
            case .blockedStream:
                let stream = BlockedStream(toMemory: ())
                stream.gate = gate
                operation.outputStream = stream
            }
            queue.addOperation(operation)
            switch obstacle {
            case .silentServer:
                try await server.waitForStalls()
            case .pausedWhileExecuting:
                try await server.waitForStalls()
                operation.pause()
            case .blockedSerializer, .blockedStream:
                try await gate.waitForArrivals()
            default:
                break
            }
        }

        /// Lets everything come to its end.
        deinit {
            operation.cancel()
            gate.open()
            queue.isSuspended = false
            queue.maxConcurrentOperationCount = 4
            endless.start()
        }
    }

    private struct BlockedSerializer: ResponseSerializer {
        let gate: Gate

        func responseObject(for response: HTTPURLResponse?, data: Data?) throws -> (any Sendable)? {
            try? gate.waitSynchronously(within: .seconds(60))
            return data
        }
    }

    /// Takes its time over the first write.
    private final class BlockedStream: OutputStream {
        var gate = Gate()

        override var hasSpaceAvailable: Bool { true }
        override var streamError: (any Error)? { nil }
        override var streamStatus: Stream.Status { .open }
        override func open() {}
        override func close() {}
        override func write(_ buffer: UnsafePointer<UInt8>, maxLength: Int) -> Int {
            try? gate.waitSynchronously(within: .seconds(60))
            return maxLength
        }
    }

    /// The error of the task, in time.
    private func end<Value: Sendable, Failure: Error>(of task: Task<Value, Failure>) async throws
        -> Result<Value, Failure>
    {
        let ends = Recorder<Result<Value, Failure>>()
        Task { ends.append(await task.result) }
        return try await ends.wait(within: .seconds(20))[0]
    }

    /// Suspends the task until it is cancelled.
    private func untilCancelled() async {
        try? await Gate().wait()
    }

    // MARK: - Values

    @Test(arguments: Obstacle.allCases, [false, true])
    func aCancelledTaskWaitsForNoValue(obstacle: Obstacle, isEarly: Bool) async throws {
        let scene = try await Scene(obstacle)
        let operation = scene.operation
        let task = Task {
            if isEarly { await untilCancelled() }
            return try await operation.value != nil
        }
        if !isEarly { try await eventually { operation.isWaitedFor } }
        task.cancel()
        let end = try await end(of: task)
        #expect((end.error as? URLError)?.code == .cancelled)
        #expect((end.error as? URLError)?.failingURL == operation.request.url)
        #expect(operation.isCancelled)
    }

    /// As one that is to end after some time.
    @Test func aTaskGroupEndsWithoutTheValue() async throws {
        struct TimeIsUp: Error {}
        let scene = try await Scene(.suspendedQueue)
        let operation = scene.operation
        let task = Task {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try await operation.value }
                group.addTask {
                    try await eventually { operation.isWaitedFor }
                    throw TimeIsUp()
                }
                try await group.next()
            }
        }
        #expect(try await end(of: task).error is TimeIsUp)
    }

    @Test func theVerbsOfAManagerGetOut() async throws {
        struct Item: Codable {}
        let manager = OperationManager(baseURL: URL(string: "http://127.0.0.1:1/"))
        manager.operationQueue.isSuspended = true
        let verbs: [@Sendable () async throws -> Void] = [
            { _ = try await manager.get("a") },
            { _ = try await manager.head("a") },
            { _ = try await manager.post("a") },
            { _ = try await manager.put("a") },
            { _ = try await manager.patch("a") },
            { _ = try await manager.delete("a") },
            { _ = try await manager.get("a", as: Item.self) },
            { _ = try await manager.post("a", parameters: .encoding(Item())) },
            { _ = try await manager.post("a", parameters: .encoding(Item()), as: Item.self) },
            {
                let form = FormParameters.form { $0.appendPart(withFormData: Data(), name: "n") }
                _ = try await manager.post("a", parameters: form)
            },
            { _ = try await manager.upload(.data(Data("x".utf8)), to: "a") },
        ]
        for (number, verb) in verbs.enumerated() {
            let task = Task(operation: verb)
            try await manager.operationQueue.wait { $0 > number }
            task.cancel()
            #expect((try await end(of: task).error as? URLError)?.code == .cancelled)
        }
        manager.operationQueue.isSuspended = false
    }

    /// Whichever comes first, exactly one of both, and the operation agrees.
    @Test func aConcurrentEndAndCancellationHaveOneOutcome() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        var values = 0
        for round in 0..<Rounds.count(400) {
            let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
            let task = Task { try await operation.value as? Data }
            operation.start()
            for _ in 0..<(round % 40) * 20 { await Task.yield() }
            task.cancel()
            let end = try await end(of: task)
            _ = try? await operation.value
            #expect(operation.isFinished)
            switch end {
            case .success(let value):
                values += 1
                #expect(value == Data("hello".utf8) && operation.error == nil)
            case .failure(let error):
                #expect((error as? URLError)?.code == .cancelled && operation.isCancelled)
            }
        }
        print("\(values) values before the cancellation")
    }

    // MARK: - Batches

    @Test(arguments: Obstacle.allCases)
    func aCancelledTaskReceivesTheAvailableResults(obstacle: Obstacle) async throws {
        let scene = try await Scene(obstacle)
        let finished = HTTPRequestOperation(request: URLRequest(url: scene.server.url))
        let failed = HTTPRequestOperation(request: URLRequest(url: scene.server.url))
        failed.responseSerializer = JSONResponseSerializer()
        for member in [finished, failed] {
            member.start()
            _ = try? await member.value
        }
        let batch = OperationBatch([finished, scene.operation, failed])
        let task = Task { await batch.results() }
        try await eventually { scene.operation.isMemberOfABatch }
        task.cancel()
        let results = try await end(of: task).get()
        #expect(results.count == 3)
        #expect(try results[0].get() === finished)
        #expect((results[1].error as? URLError)?.code == .cancelled)
        #expect(results[2].error is ResponseSerializationError)
        #expect(scene.operation.isCancelled && !finished.isCancelled)
    }

    @Test func aCompletionQueueThatIsBlockedHoldsNoCancelledTask() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        let gate = Gate()
        let blocked = DispatchQueue(label: "blocked")
        blocked.async { try? gate.waitSynchronously(within: .seconds(60)) }
        let member = HTTPRequestOperation(request: URLRequest(url: server.url))
        member.completionQueue = blocked
        member.setCompletion(success: { _, _ in }, failure: nil)
        let completions = Recorder<Int>()
        let batch = OperationBatch(
            [member],
            completionQueue: blocked,
            completion: { completions.append($0.count) }
        )
        member.start()
        _ = try await member.value
        let task = Task { await batch.results() }
        task.cancel()
        // It had finished: that it has not been reported changes nothing.
        #expect(try await end(of: task).get().map(\.isSuccess) == [true])
        gate.open()
        #expect(try await completions.wait() == [1])
        #expect(await batch.results().map(\.isSuccess) == [true])
    }

    @Test func aCancelledTaskWaitsForNoDownloads() async throws {
        let server = try ScriptedServer(
            routes: ["/1": [.respond(body: "hello").stalling(after: .wire(0))]],
            otherwise: [.respond(body: "hello")]
        )
        let scene = try BatchScene()
        let (gate, blocked) = (Gate(), DispatchQueue(label: "blocked"))
        blocked.async { try? gate.waitSynchronously(within: .seconds(60)) }
        scene.manager.completionQueue = blocked
        let batch = try scene.batch(scene.items(0..<4, of: server), journal: scene.journal) { options in
            options.maximumActiveDownloads = 1
        }
        try await server.waitForStalls()
        let task = Task { await batch.results() }
        task.cancel()
        let results = try await end(of: task).get()
        #expect(results.map(\.isSuccess) == [true, false, false, false])
        #expect(results.dropFirst().allSatisfy { ($0.error as? URLError)?.code == .cancelled })
        gate.open()
        #expect(await batch.results().map(\.isSuccess) == [true, false, false, false])
    }

    @Test func aCancelledTaskWaitsForNoDownloadsInASuspendedQueue() async throws {
        let server = try BatchScene.server()
        let scene = try BatchScene()
        scene.manager.operationQueue.isSuspended = true
        let batch = try scene.batch(scene.items(0..<4, of: server))
        let task = Task { await batch.results() }
        try await scene.manager.operationQueue.wait { $0 >= 4 }
        task.cancel()
        let results = try await end(of: task).get()
        #expect(results.count == 4)
        #expect(results.allSatisfy { ($0.error as? URLError)?.code == .cancelled })
        scene.manager.operationQueue.isSuspended = false
        #expect(await batch.results().count == 4)
    }

    // MARK: - Files

    @Test func aCancelledTaskWaitsForNoFile() async throws {
        let folder = try TemporaryDirectory()
        let (gate, target) = (Gate(), folder.file("form"))
        try Data("old".utf8).write(to: target)
        let stream = WatchedStream(length: 1 << 20, heldBy: gate)
        let (didRead, didClose) = (stream.didRead, stream.didClose)
        let body = BodySource.stream(stream)
        let task = Task { try await body.write(to: target) }
        try await didRead.wait()
        task.cancel()
        #expect((try await end(of: task).error as? URLError)?.code == .cancelled)
        gate.open()
        try await didClose.wait()
        // What it had begun to write goes, and nothing takes the place of the older file.
        try await eventually {
            try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["form"]
        }
        #expect(try String(contentsOf: target, encoding: .utf8) == "old")
    }

    @Test func aTaskThatIsCancelledAlreadyWritesNoFile() async throws {
        let folder = try TemporaryDirectory()
        let target = folder.file("form")
        let task = Task {
            await untilCancelled()
            try await BodySource.data(Data("new".utf8)).write(to: target)
        }
        task.cancel()
        #expect((try await end(of: task).error as? URLError)?.code == .cancelled)
        try await eventually {
            try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty
        }
    }
}
