import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Each in a process of its own, whose main thread waits for ever, as a server's may.
@Suite(.timeLimit(.minutes(2)))
struct WithoutMainQueueTests {
    /// The finished operations that are kept for a main queue that may never run.
    private static let keptEnds = 256

    /// Blocks the main thread until the gate is open.
    private static func blockMain(until gate: Gate = Gate()) async throws {
        let isBlocked = Gate()
        DispatchQueue.main.async {
            isBlocked.open()
            try? gate.waitSynchronously(within: .seconds(1000))
        }
        try await isBlocked.wait()
    }

    private static func member(_ server: ScriptedServer, _ path: String = "/") -> HTTPRequestOperation {
        HTTPRequestOperation(request: URLRequest(url: server.url(path: path)))
    }

    /// Waits until standard error says that a callback waits for the main queue, and exits.
    private static func expectAdvice(after begin: (ScriptedServer) async throws -> Void) async throws {
        alarm(50)
        let pipe = Pipe()
        guard dup2(pipe.fileHandleForWriting.fileDescriptor, 2) == 2 else { exit(3) }
        let server = try ScriptedServer { _ in .respond(body: "x") }
        try await begin(server)
        var text = ""
        while !text.contains("\n") {
            text += String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
        }
        // With the pipe: what is written at the end goes there.
        withExtendedLifetime(pipe) { exit(text.contains("a callback has waited for the main queue") ? 0 : 5) }
    }

    @Test func waitingOnTheMainThreadLogsAWarning() async {
        await #expect(processExitsWith: .success) {
            try await WithoutMainQueueTests.expectAdvice { server in
                try await WithoutMainQueueTests.blockMain()
                let operation = WithoutMainQueueTests.member(server)
                operation.setCompletion(success: { _, _ in exit(4) })
                operation.start()
            }
        }
    }

    @Test func waitingForABatchLogsAWarning() async {
        await #expect(processExitsWith: .success) {
            try await WithoutMainQueueTests.expectAdvice { server in
                try await WithoutMainQueueTests.blockMain()
                let batch = OperationBatch([WithoutMainQueueTests.member(server)]) { _ in exit(4) }
                batch.add(to: OperationQueue())
            }
        }
    }

    @Test func waitingForALateClosureLogsAWarning() async {
        await #expect(processExitsWith: .success) {
            try await WithoutMainQueueTests.expectAdvice { server in
                try await WithoutMainQueueTests.blockMain()
                let operation = WithoutMainQueueTests.member(server)
                operation.start()
                _ = try await operation.value
                operation.setCompletion(success: { _, _ in exit(4) })
            }
        }
    }

    /// Its start waits for the main queue as a notification when the closure is set.
    @Test func waitingForAClosureThatIsSetWhileItRunsLogsAWarning() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            let gate = Gate()
            let slow = try ScriptedServer([.respond(body: "x").held(by: gate)])
            try await WithoutMainQueueTests.expectAdvice { _ in
                try await WithoutMainQueueTests.blockMain()
                let operation = WithoutMainQueueTests.member(slow)
                operation.start()
                // Until the start no longer waits for the end.
                try await eventually { operation.hasCallbacksOnTheirWay }
                operation.setCompletion(success: { _, _ in exit(4) })
                gate.open()
            }
        }
    }

    /// A callback has come before, and the queue is one of the program that targets the main queue.
    @Test func waitingForASecondCallbackLogsAWarning() async {
        await #expect(processExitsWith: .success) {
            try await WithoutMainQueueTests.expectAdvice { server in
                let queue = DispatchQueue(label: "callbacks", target: .main)
                let reported = Recorder<String>()
                let first = WithoutMainQueueTests.member(server)
                first.completionQueue = queue
                first.setCompletion(success: { _, _ in reported.append("first") })
                first.start()
                _ = try await reported.wait()
                try await WithoutMainQueueTests.blockMain()
                let second = WithoutMainQueueTests.member(server)
                second.completionQueue = queue
                second.setCompletion(success: { _, _ in exit(4) })
                second.start()
            }
        }
    }

    @Test func theBatchOfREADMECompletes() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            try await WithoutMainQueueTests.blockMain()
            let server = try ScriptedServer(
                routes: ["/1": [.respond(500)]],
                otherwise: [.respond(body: "x")]
            )
            let urls = (0..<10).map { server.url(path: "\($0)") }
            let callbacks = DispatchQueue(label: "callbacks")
            let queue = OperationQueue()
            let counts = Recorder<Int>()
            let completions = Recorder<Int>()

            let operations = ConnectionOperation.batch(
                of: urls.map { HTTPRequestOperation(request: URLRequest(url: $0)) },
                completionQueue: callbacks,
                progress: { finished, total in counts.append(finished * 100 + total) },
                completion: { operations in completions.append(operations.count) }
            )
            for operation in operations { queue.addOperation(operation) }

            guard try await completions.wait() == [10] else { exit(2) }
            guard counts.elements == (1...10).map({ $0 * 100 + 10 }) else { exit(3) }
            // And the last operation ends.
            try await eventually { operations.last?.isFinished == true }
        }
    }

    @Test func aBatchWithoutClosuresNeedsNoQueue() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            try await WithoutMainQueueTests.blockMain()
            // What the failure stops has not come to an end by itself.
            let server = try ScriptedServer(
                routes: ["/1": [.respond(500)], "/2": [.silence], "/3": [.silence], "/4": [.silence]],
                otherwise: [.respond(body: "x")]
            )
            let queue = TransferQueue()
            queue.maxConcurrentOperationCount = 1
            let members = (0..<5).map { WithoutMainQueueTests.member(server, "/\($0)") }
            let inner = OperationBatch(members, policy: .stopAtFirstFailure)
            let batch = OperationBatch(batches: [
                inner, OperationBatch([WithoutMainQueueTests.member(server)]),
            ])
            // Asked for before its end, it is no reason to wait for the main queue.
            let progress = batch.progress
            for operation in batch.operations { queue.addOperation(operation) }
            let results = await batch.results()
            guard results.map(\.isSuccess) == [true, false, false, false, false, true] else { exit(2) }
            guard inner.firstFailure === members[1], members[2].isCancelled else { exit(3) }
            guard batch.fractionCompleted == 1, batch.estimatedTimeRemaining == 0 else { exit(4) }
            // Asked for after its end, it is finished.
            guard inner.progress.isFinished, !progress.isFinished else { exit(5) }
            try await eventually { batch.operations.last?.isFinished == true && queue.operationCount == 0 }
            let empty = OperationBatch([HTTPRequestOperation]())
            guard await empty.results().isEmpty else { exit(6) }
        }
    }

    @Test func downloadsNeedNoQueue() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            try await WithoutMainQueueTests.blockMain()
            let server = try BatchScene.server()
            let scene = try BatchScene()
            let manager = OperationManager()
            let items = scene.items(0..<10, of: server)
            let batch = try manager.downloads(items, journal: scene.journal)
            guard await batch.results().allSatisfy(\.isSuccess) else { exit(2) }
            guard batch.progress.isFinished, batch.fractionCompleted == 1 else { exit(3) }
            // A download is no subclass of the user's.
            let single = manager.downloadOperation(
                for: URLRequest(url: server.url(path: "single")),
                to: scene.folder.file("single")
            )
            let singles = OperationBatch([single])
            single.start()
            guard await singles.results().allSatisfy(\.isSuccess) else { exit(4) }
        }
    }

    @Test func aManagerWithoutClosuresNeedsNoQueue() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            try await WithoutMainQueueTests.blockMain()
            let server = try ScriptedServer { _ in
                .respond(200, ["Content-Type": "application/json"], body: "[1]")
            }
            let manager = OperationManager(baseURL: server.url)
            let group = DispatchGroup()
            manager.completionGroup = group
            guard try await manager.get("a", as: [Int].self) == [1] else { exit(2) }
            guard let operation = manager.get("a", success: nil, failure: nil) else { exit(3) }
            guard await OperationBatch([operation]).results().allSatisfy(\.isSuccess) else { exit(4) }
            // Notifications alone do not enter it.
            guard group.wait(timeout: .now() + 20) == .success else { exit(5) }
        }
    }

    /// A process that never runs the main queue does not keep what waits for it.
    @Test func callbacksThatTheMainQueueNeverRunsAreNotKept() async {
        await #expect(processExitsWith: .success) {
            alarm(100)
            try await WithoutMainQueueTests.blockMain()
            let server = try ScriptedServer { _ in .respond(body: "hello") }
            let living = Locked(0)
            final class Token: Sendable {
                let living: Locked<Int>
                init(_ living: Locked<Int>) {
                    self.living = living
                    living.withLock { $0 += 1 }
                }
                deinit { living.withLock { $0 -= 1 } }
            }
            for _ in 0..<2 * WithoutMainQueueTests.keptEnds {
                let operation = WithoutMainQueueTests.member(server)
                operation.userInfo = ["token": Token(living)]
                operation.setRedirect { _, request, _ in request }
                operation.start()
                _ = try await operation.value
            }
            try await eventually { living.withLock { $0 } <= WithoutMainQueueTests.keptEnds }
        }
    }

    /// The end comes while the main queue reports the start, and has to wait for a later turn of it.
    @Test func aReportedStartIsFollowedByItsEnd() async {
        await #expect(processExitsWith: .success) {
            alarm(100)
            let (answer, isTelling, mayGoOn, mayTellRest) = (Gate(), Gate(), Gate(), Gate())
            let server = try ScriptedServer(
                routes: ["/first": [.respond(body: "hello").held(by: answer)]],
                otherwise: [.respond(body: "hello")]
            )
            let ended = Recorder<String>()
            let tokens = [Notification.Name.operationDidStart, .operationDidFinish].map { name in
                NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) {
                    let path = ($0.object as? ConnectionOperation)?.request.url?.path
                    guard path == "/first" else { return }
                    guard $0.name == .operationDidStart else { return ended.append("first") }
                    isTelling.open()
                    try? mayGoOn.waitSynchronously(within: .seconds(1000))
                }
            }
            var first: HTTPRequestOperation? = WithoutMainQueueTests.member(server, "/first")
            first?.start()
            try await isTelling.wait()
            answer.open()
            _ = try await first?.value
            first = nil
            // Before the turn that the end gets.
            DispatchQueue.main.async { try? mayTellRest.waitSynchronously(within: .seconds(1000)) }
            mayGoOn.open()
            try await mayTellRest.waitForArrivals()
            for _ in 0...WithoutMainQueueTests.keptEnds {
                let operation = WithoutMainQueueTests.member(server)
                operation.start()
                _ = try await operation.value
            }
            mayTellRest.open()
            await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } }
            guard ended.elements == ["first"] else { exit(2) }
            for token in tokens { NotificationCenter.default.removeObserver(token) }
        }
    }

    /// The main queue is busy for a while: everything comes in order as soon as it is not.
    @Test func aLateClosureIsCalledWhenTheMainQueueRuns() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            let gate = Gate()
            try await WithoutMainQueueTests.blockMain(until: gate)
            let server = try ScriptedServer { _ in .respond(body: "hello") }
            let events = Recorder<String>()
            let operation = WithoutMainQueueTests.member(server)
            let tokens = [Notification.Name.operationDidStart, .operationDidFinish].map { name in
                NotificationCenter.default.addObserver(forName: name, object: operation, queue: nil) {
                    events.append($0.name == .operationDidStart ? "start" : "finish")
                }
            }
            operation.start()
            _ = try await operation.value
            operation.setCompletion(success: { _, _ in events.append("success") }, failure: nil)
            operation.completionBlock = { events.append("block") }
            guard events.elements.isEmpty else { exit(2) }
            gate.open()
            guard try await events.wait(count: 4) == ["start", "finish", "success", "block"] else { exit(3) }
            for token in tokens { NotificationCenter.default.removeObserver(token) }
        }
    }

    /// Closures are worth waiting for, as before.
    @Test func aMemberWithAClosureEndsAfterIt() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            let gate = Gate()
            try await WithoutMainQueueTests.blockMain(until: gate)
            let server = try ScriptedServer { _ in .respond(body: "hello") }
            let events = Recorder<String>()
            let member = WithoutMainQueueTests.member(server)
            member.setCompletion(success: { _, _ in events.append("success") }, failure: nil)
            let batch = OperationBatch([member, WithoutMainQueueTests.member(server)])
            let task = Task {
                _ = await batch.results()
                events.append("results")
            }
            for member in batch.members {
                member.start()
                _ = try await member.value
            }
            // One has ended for the batch, and the other one not yet.
            guard batch.fractionCompleted < 1, events.elements.isEmpty else { exit(2) }
            gate.open()
            guard try await events.wait(count: 2) == ["success", "results"] else { exit(3) }
            await task.value
        }
    }

    /// Notifications that wait for the main queue come on the queue that is set late, with the closures.
    @Test func aLateClosureWithAQueueNeedsNoMainQueue() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            try await WithoutMainQueueTests.blockMain()
            let server = try ScriptedServer { _ in .respond(body: "hello") }
            let events = Recorder<String>()
            let operation = WithoutMainQueueTests.member(server)
            operation.start()
            _ = try await operation.value
            operation.completionQueue = DispatchQueue(label: "callbacks")
            operation.setCompletion(success: { _, _ in events.append("success") }, failure: nil)
            operation.completionBlock = { events.append("block") }
            guard try await events.wait(count: 2) == ["success", "block"] else { exit(2) }
            // Also of one that never began.
            let cancelled = WithoutMainQueueTests.member(server)
            cancelled.cancel()
            cancelled.completionQueue = DispatchQueue(label: "callbacks")
            cancelled.setCompletion(success: nil, failure: { _, _ in events.append("failure") })
            guard try await events.wait(count: 3).last == "failure" else { exit(3) }
        }
    }
}
