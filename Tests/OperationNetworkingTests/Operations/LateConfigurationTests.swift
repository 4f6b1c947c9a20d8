import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Settings after an operation was made: by `configure:`, too late, or after the end.
@Suite(.timeLimit(.minutes(1)))
struct LateConfigurationTests {
    private static func manager(_ server: ScriptedServer) -> OperationManager {
        let manager = OperationManager(baseURL: server.url)
        manager.responseSerializer = HTTPResponseSerializer()
        manager.completionQueue = DispatchQueue(label: "callbacks")
        return manager
    }

    // MARK: - configure

    @Test func configureComesBeforeTheOperationIsInTheQueue() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let manager = Self.manager(server)
        let folder = try TemporaryDirectory()
        let ends = Recorder<Bool>()
        var counts: [Int] = []
        for index in 0..<100 {
            manager.get(
                "a",
                configure: { operation in
                    counts.append(manager.operationQueue.operations.count { $0 === operation })
                    operation.outputFile = folder.file("\(index)")
                },
                success: { operation, object in ends.append(object == nil) }
            )
        }
        #expect(try await ends.wait(count: 100).allSatisfy { $0 })
        #expect(counts == Array(repeating: 0, count: 100))
        #expect(try String(contentsOf: folder.file("99"), encoding: .utf8) == "four")
        try await manager.get("a") { $0.outputFile = folder.file("async") }
        #expect(try String(contentsOf: folder.file("async"), encoding: .utf8) == "four")
        try await manager.upload(.data(Data("x".utf8)), to: "a") { $0.timeouts.total = 20 }
        try await manager.post("a", parameters: .form { $0.appendPart(withFormData: Data(), name: "a") }) {
            $0.outputFile = folder.file("form")
        }
        #expect(try String(contentsOf: folder.file("form"), encoding: .utf8) == "four")
    }

    @Test func anErrorOfConfigureIsTheErrorOfTheRequest() async throws {
        let server = try ScriptedServer { _ in .respond() }
        let manager = Self.manager(server)
        let failures = Recorder<Bool>()
        let operation = manager.get(
            "a",
            configure: { _ in throw CocoaError(.fileNoSuchFile) },
            success: nil,
            failure: { operation, error in failures.append(operation == nil && error is CocoaError) }
        )
        #expect(operation == nil)
        #expect(try await failures.wait() == [true])
        await #expect(throws: CocoaError.self) {
            try await manager.get("a") { _ in throw CocoaError(.fileNoSuchFile) }
        }
        #expect(server.requests.isEmpty)
    }

    // MARK: - Too late

    #if arch(arm64)
        private static let trap = ExitTest.Condition.signal(SIGTRAP)
    #else
        private static let trap = ExitTest.Condition.signal(SIGILL)
    #endif

    /// The queue is suspended: it was luck before.
    @Test func settingAStreamAfterTheVerbTrapsEachTime() async {
        await #expect(processExitsWith: Self.trap) {
            alarm(20)
            let manager = OperationManager()
            manager.operationQueue.isSuspended = true
            let operation = manager.get("http://127.0.0.1:9/", success: nil)
            operation?.outputFile = URL(fileURLWithPath: "/tmp/never")
        }
    }

    @Test func settingASerializerAfterTheVerbTrapsEachTime() async {
        await #expect(processExitsWith: Self.trap) {
            alarm(20)
            let manager = OperationManager()
            manager.operationQueue.isSuspended = true
            let operation = manager.get("http://127.0.0.1:9/", success: nil)
            operation?.responseSerializer = HTTPResponseSerializer()
        }
    }

    @Test func afterAQueueThatSaysSoItTrapsEachTime() async {
        await #expect(processExitsWith: Self.trap) {
            alarm(20)
            let queue = TransferQueue()
            queue.isSuspended = true
            let operation = HTTPRequestOperation(request: URLRequest(url: URL(fileURLWithPath: "/never")))
            queue.addOperation(operation)
            operation.outputFile = URL(fileURLWithPath: "/tmp/never")
        }
        await #expect(processExitsWith: Self.trap) {
            alarm(20)
            let queue = TransferQueue()
            queue.isSuspended = true
            let operation = HTTPRequestOperation(request: URLRequest(url: URL(fileURLWithPath: "/never")))
            queue.addOperations([operation], waitUntilFinished: false)
            operation.timeouts.total = 1
        }
    }

    @Test func afterABatchItTrapsEachTime() async {
        await #expect(processExitsWith: Self.trap) {
            alarm(20)
            let queue = OperationQueue()
            queue.isSuspended = true
            let operation = HTTPRequestOperation(request: URLRequest(url: URL(fileURLWithPath: "/never")))
            let batch = OperationBatch([operation])
            batch.add(to: queue)
            operation.outputFile = URL(fileURLWithPath: "/tmp/never")
        }
    }

    /// A plain queue does not notify an operation when it is added.
    @Test func inAPlainQueueASettingCountsUntilTheQueueStartsTheOperation() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let folder = try TemporaryDirectory()
        let queue = OperationQueue()
        queue.isSuspended = true
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        queue.addOperation(operation)
        operation.outputFile = folder.file("a")
        queue.isSuspended = false
        _ = try await operation.value
        #expect(try String(contentsOf: folder.file("a"), encoding: .utf8) == "four")
    }

    /// A queue asks whether an operation is ready, and so do others.
    @Test func anOperationInNoQueueAcceptsSettings() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let folder = try TemporaryDirectory()
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        let first = Operation()
        operation.addDependency(first)
        #expect(!operation.isReady)
        operation.outputFile = folder.file("before")
        first.start()
        #expect(operation.isReady)
        operation.outputFile = folder.file("a")
        let queue = OperationQueue()
        queue.addOperation(operation)
        _ = try await operation.value
        #expect(try String(contentsOf: folder.file("a"), encoding: .utf8) == "four")
    }

    @Test func inAPlainQueueItTrapsOnceTheOperationHasStarted() async {
        await #expect(processExitsWith: Self.trap) {
            alarm(20)
            let operation = HTTPRequestOperation(request: URLRequest(url: URL(fileURLWithPath: "/never")))
            let queue = OperationQueue()
            queue.addOperation(operation)
            try await eventually { operation.isFinished }
            operation.outputFile = URL(fileURLWithPath: "/tmp/never")
        }
    }

    /// Foundation asks for the readiness in these cases as a queue does when it gets an operation.
    @Test func anOperationWhoseReadinessWasReadIsStillConfigured() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let folder = try TemporaryDirectory()
        let earlier = BlockOperation {}
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.addDependency(earlier)
        operation.timeouts.total = 20
        earlier.start()
        #expect(operation.isReady)
        operation.outputFile = folder.file("a")
        TransferQueue().addOperation(operation)
        _ = try await operation.value
        #expect(try String(contentsOf: folder.file("a"), encoding: .utf8) == "four")
    }

    /// Its archive does not keep these, so a program sets them for each operation that it restores.
    @Test func aRestoredFinishedOperationAcceptsNoSettings() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let folder = try TemporaryDirectory()
        let original = HTTPRequestOperation(request: URLRequest(url: server.url))
        original.start()
        _ = try await original.value
        let operation = HTTPRequestOperation(archive: try #require(original.archive))
        operation.credential = Credential(user: "u", password: "p")
        operation.responseSerializer = JSONResponseSerializer()
        operation.outputFile = folder.file("a")
        operation.retryPolicy = RetryPolicy()
        operation.timeouts.total = 1
        operation.setBodyStreamProvider(nil)
        for try await _ in operation.bodyPieces() {}
        #expect(operation.isFinished && operation.credential == nil && operation.outputFile == nil)
        #expect(operation.retryPolicy == nil && operation.timeouts.total == nil)
        #expect(operation.responseSerializer is HTTPResponseSerializer && operation.responseData?.count == 4)
    }

    private func expectSentence(_ sentence: String, _ result: ExitTest.Result?) throws {
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(text.contains(sentence))
    }

    @Test func aRepeatedCallNamesItself() async throws {
        let pieces = await #expect(
            processExitsWith: Self.trap,
            observing: [\.standardErrorContent]
        ) {
            alarm(20)
            let operation = HTTPRequestOperation(request: URLRequest(url: URL(fileURLWithPath: "/never")))
            _ = operation.bodyPieces()
            _ = operation.bodyPieces()
        }
        try expectSentence("bodyPieces() was called twice", pieces)
        let batch = await #expect(
            processExitsWith: Self.trap,
            observing: [\.standardErrorContent]
        ) {
            alarm(20)
            let queue = OperationQueue()
            queue.isSuspended = true
            let batch = OperationBatch([
                HTTPRequestOperation(request: URLRequest(url: URL(fileURLWithPath: "/never")))
            ])
            batch.add(to: queue)
            batch.add(to: queue)
        }
        try expectSentence("A batch was added to a queue twice", batch)
    }

    @Test func aSetterThatComesTooLateNamesItself() async throws {
        let policy = await #expect(
            processExitsWith: Self.trap,
            observing: [\.standardErrorContent]
        ) {
            alarm(20)
            let queue = TransferQueue()
            queue.isSuspended = true
            let operation = HTTPRequestOperation(request: URLRequest(url: URL(fileURLWithPath: "/never")))
            queue.addOperation(operation)
            operation.retryPolicy = RetryPolicy()
        }
        try expectSentence("retryPolicy was set after", policy)
        let closure = await #expect(
            processExitsWith: Self.trap,
            observing: [\.standardErrorContent]
        ) {
            alarm(20)
            let queue = TransferQueue()
            queue.isSuspended = true
            let operation = HTTPRequestOperation(request: URLRequest(url: URL(fileURLWithPath: "/never")))
            queue.addOperation(operation)
            operation.setCacheResponse { proposed in proposed }
        }
        try expectSentence("setCacheResponse was set after", closure)
    }

    // MARK: - Closures after the end

    @Test func closuresThatAreSetLateAreCalledOnce() async throws {
        let server = try ScriptedServer { request in
            request.path.hasSuffix("bad") ? .hangUp : .respond(body: "four")
        }
        let queue = OperationQueue()
        for round in 0..<200 {
            let path = round % 5 == 4 ? "bad" : "good"
            let operation = HTTPRequestOperation(request: URLRequest(url: server.url(path: path)))
            operation.completionQueue = DispatchQueue(label: "callbacks")
            let events = Recorder<Bool>()
            queue.addOperation(operation)
            // At once, after some time, and after the end.
            if round % 3 > 0 { _ = try? await operation.value }
            if round % 3 > 1 { try await eventually { operation.isFinished } }
            operation.setCompletion(
                success: { _, object in events.append((object as? Data)?.count == 4) },
                failure: { _, error in events.append(path == "bad") }
            )
            #expect(try await events.wait() == [true], "\(round)")
            #expect(events.elements == [true])
        }
    }

    @MainActor @Test func lateClosuresOfTheMainActorComeOnTheMainQueue() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.start()
        _ = try await operation.value
        let events = Recorder<Int>()
        var count = 0
        operation.setCompletion(success: { _, _ in
            count += 1
            events.append(count)
        })
        operation.setCompletion(success: { _, _ in
            count += 1
            events.append(count)
        })
        _ = try await events.wait()
        await withCheckedContinuation { (over: CheckedContinuation<Void, Never>) in
            DispatchQueue.main.async { over.resume() }
        }
        // The second replaced the first, or came after it.
        #expect(events.elements == [1] || events.elements == [1, 2])
    }

    // MARK: - Batches

    @Test func aMemberThatIsGivenTwiceIsAMemberOnce() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let member = HTTPRequestOperation(request: URLRequest(url: server.url))
        let other = HTTPRequestOperation(request: URLRequest(url: server.url))
        let counts = Recorder<Int>()
        let batch = OperationBatch(
            [member, other, member],
            completionQueue: DispatchQueue(label: "callbacks"),
            progress: { ended, total in counts.append(ended * 10 + total) }
        )
        #expect(
            batch.members.map { ObjectIdentifier($0) } == [ObjectIdentifier(member), ObjectIdentifier(other)]
        )
        let outer = OperationBatch(batches: [batch, batch])
        let queue = OperationQueue()
        for operation in outer.operations { queue.addOperation(operation) }
        #expect(await outer.results().count == 2)
        #expect(counts.elements == [12, 22])
    }

    @Test func theCountsOfABatchAreItsOwn() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let batch = OperationBatch(
            [HTTPRequestOperation(request: URLRequest(url: server.url))],
            completionQueue: DispatchQueue(label: "callbacks")
        )
        let progress = batch.progress
        progress.totalUnitCount = 1000
        progress.completedUnitCount = 999
        #expect(progress.totalUnitCount != 1000 && progress.completedUnitCount == 0)
        for member in batch.members { member.start() }
        _ = await batch.results()
        #expect(progress.isFinished)
    }

    // MARK: - Cancelling

    @Test func cancellingAnOperationThatIsInNoQueueEndsIt() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        let events = Recorder<Bool>()
        operation.setCompletion(
            success: { _, _ in events.append(false) },
            failure: { _, error in events.append(RequestFailure(error).isCancelled) }
        )
        let batch = OperationBatch([operation])
        operation.cancel()
        #expect(try await events.wait() == [true])
        #expect(operation.isFinished && operation.isCancelled)
        #expect(await batch.results().first?.isSuccess == false)
        await #expect(throws: URLError.self) { try await operation.value }
        #expect(server.requests.isEmpty)
        // And a queue takes it all the same, and is done with it.
        let queue = OperationQueue()
        queue.addOperation(operation)
        await withCheckedContinuation { (over: CheckedContinuation<Void, Never>) in
            queue.addBarrierBlock { over.resume() }
        }
        #expect(events.elements == [true])
    }

    @Test func whatDependsOnOneThatWasCancelledAloneContinuesWhenThatIsStarted() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let manager = Self.manager(server)
        let cancelled = manager.operation(for: URLRequest(url: server.url))
        let dependent = manager.operation(for: URLRequest(url: server.url))
        dependent.addDependency(cancelled)
        manager.operationQueue.addOperation(dependent)
        cancelled.cancel()
        #expect(cancelled.isFinished && !dependent.isExecuting)
        cancelled.start()
        #expect(try await dependent.value as? Data == Data("four".utf8))
        #expect(server.requests.count == 1)
    }

    @Test func aCompletionThatIsConfiguredReplacesTheClosuresOfTheVerb() async throws {
        let server = try ScriptedServer { _ in
            .respond(200, ["Content-Type": "application/json"], body: "[1]")
        }
        let manager = Self.manager(server)
        let events = Recorder<String>()
        let configure: (HTTPRequestOperation) -> Void = { operation in
            operation.setCompletion(success: { _, object in events.append("own \(object as? [Int] ?? [])") })
        }
        manager.get("a", as: [Int].self, configure: configure, success: { _, _ in events.append("typed") })
        #expect(try await events.wait() == ["own [1]"])
        manager.responseSerializer = DecodableResponseSerializer([Int].self)
        manager.get("a", configure: configure, success: { _, _ in events.append("plain") })
        #expect(try await events.wait(count: 2) == ["own [1]", "own [1]"])
    }

    @Test func cancellingAndAddingAtOnceLosesNothing() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let queue = OperationQueue()
        let events = Recorder<Bool>()
        for _ in 0..<300 {
            let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
            operation.completionQueue = DispatchQueue(label: "callbacks")
            operation.setCompletion(
                success: { _, _ in events.append(true) },
                failure: { _, _ in events.append(true) }
            )
            DispatchQueue.global().async { operation.cancel() }
            queue.addOperation(operation)
        }
        _ = try await events.wait(count: 300)
        await withCheckedContinuation { (over: CheckedContinuation<Void, Never>) in
            queue.addBarrierBlock { over.resume() }
        }
        #expect(events.elements.count == 300)
        #expect(queue.operationCount == 0)
    }

    @Test func anOperationOfASuspendedQueueEndsWhenTheQueueContinues() async throws {
        let queue = OperationQueue()
        queue.isSuspended = true
        let operation = HTTPRequestOperation(request: URLRequest(url: URL(fileURLWithPath: "/")))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        queue.addOperation(operation)
        operation.cancel()
        #expect(!operation.isFinished)
        queue.isSuspended = false
        await withCheckedContinuation { (over: CheckedContinuation<Void, Never>) in
            queue.addBarrierBlock { over.resume() }
        }
        #expect(operation.isFinished)
    }

    /// The result is known, whenever the queue goes on.
    @Test func waitingForWhatWasCancelledInASuspendedQueueEndsAtOnce() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let manager = Self.manager(server)
        manager.operationQueue.isSuspended = true
        let verb = Task { try await manager.get("a") }
        try await manager.operationQueue.wait { $0 > 0 }
        let batch = OperationBatch((0..<3).map { _ in manager.operation(for: URLRequest(url: server.url)) })
        batch.add(to: manager.operationQueue)
        let results = Task { await batch.results() }
        let late = manager.operation(for: URLRequest(url: server.url))
        manager.operationQueue.addOperation(late)
        manager.operationQueue.cancelAllOperations()
        await #expect(throws: URLError.self) { try await verb.value }
        await #expect(throws: URLError.self) { try await late.value }
        for result in await results.value { #expect(throws: URLError.self) { try result.get() } }
        #expect(await batch.results().count == 3)
        #expect(!late.isFinished && server.requests.isEmpty)
        manager.operationQueue.isSuspended = false
        try await manager.operationQueue.waitUntilEmpty()
        #expect(late.isFinished)
    }

    /// Those that run end first, with their closures.
    @Test func resultsOfACancelledBatchWaitForThoseThatRun() async throws {
        let server = try ScriptedServer { _ in .silence }
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let operations = (0..<2).map { _ in HTTPRequestOperation(request: URLRequest(url: server.url)) }
        for operation in operations { operation.completionQueue = DispatchQueue(label: "callbacks") }
        let events = Recorder<Bool>()
        operations[0].setCompletion(success: nil, failure: { _, _ in events.append(true) })
        let batch = OperationBatch(operations)
        batch.add(to: queue)
        try await server.waitForStalls(count: 1)
        queue.isSuspended = true
        batch.cancel()
        for result in await batch.results() { #expect(throws: URLError.self) { try result.get() } }
        #expect(events.elements == [true] && operations[0].isFinished && !operations[1].isFinished)
        queue.isSuspended = false
    }

    // MARK: - Copies

    @Test func aCopyHasItsType() throws {
        final class Own: HTTPRequestOperation, @unchecked Sendable {
            // @unchecked: it has no stored property of its own.
        }
        let operation = Own(request: URLRequest(url: try #require(URL(string: "http://example.com/"))))
        operation.maximumDecodedLength = 7
        let copy = operation.copied()
        #expect(type(of: copy) == Own.self && copy !== operation && copy.maximumDecodedLength == 7)
        let manager = OperationManager(baseURL: URL(string: "http://example.com/a/"))
        #expect(manager.copied().baseURL == manager.baseURL)
    }
}
