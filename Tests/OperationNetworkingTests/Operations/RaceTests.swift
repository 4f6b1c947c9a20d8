import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Two threads want something of one operation at the worst moment. The rounds are a tenth under a sanitizer.
@Suite(.timeLimit(.minutes(5)))
struct RaceTests {
    private let callbacks = DispatchQueue(label: "callbacks")

    private func operation(_ server: ScriptedServer, _ path: String = "/") -> HTTPRequestOperation {
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url(path: path)))
        operation.completionQueue = callbacks
        return operation
    }

    /// The callbacks of an operation at its end: of the closures, and of the block.
    private final class Ending: Sendable {
        private let results = Recorder<Bool>()

        init(_ operation: HTTPRequestOperation) {
            operation.setCompletion(
                success: { [results] _, _ in results.append(true) },
                failure: { [results] _, _ in results.append(false) }
            )
            operation.completionBlock = { [results, unowned operation] in
                results.append(operation.error == nil)
            }
        }

        /// Whether it was a success; both agreed, and nothing was reported twice.
        func isSuccess(on callbacks: DispatchQueue) async throws -> Bool {
            try await results.wait(count: 2)
            callbacks.sync {}
            #expect(results.elements.count == 2 && results.elements[0] == results.elements[1])
            return results.elements[0]
        }
    }

    /// Runs `bodies` at the same time, each on a thread of its own that waits for the others at the start.
    private func race(_ bodies: (@Sendable () -> Void)...) {
        let start = DispatchSemaphore(value: 0)
        let ended = DispatchGroup()
        for body in bodies {
            DispatchQueue.global().async(group: ended) {
                start.wait()
                body()
            }
        }
        for _ in bodies { start.signal() }
        ended.wait()
    }

    // MARK: - Cancel

    @Test func aCancelAgainstTheEndGivesOneCompletion() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        var successes = 0
        let rounds = Rounds.count(10_000)
        for round in 0..<rounds {
            let operation = operation(server)
            let ending = Ending(operation)
            switch round % 4 {
            case 0:
                // When its last byte has come.
                operation.setDownloadProgress { [unowned operation] _, _, _ in operation.cancel() }
                operation.start()
            case 1:
                operation.start()
                _ = try await operation.value
                operation.cancel()
            default:
                // At another moment of its life each time.
                operation.start()
                for _ in 0..<(round % 64) { await Task.yield() }
                operation.cancel()
            }
            if try await ending.isSuccess(on: callbacks) { successes += 1 }
            #expect(operation.isFinished)
        }
        #expect(successes >= rounds / 4 && successes < rounds)
    }

    /// When an operation is cancelled, and how it came there.
    enum Moment: CaseIterable, Sendable {
        case beforeStart
        case whileQueued
        case whileStarting
        case whilePausedInTheQueue
        case whilePaused
        case whileWaitingForASlot
        case insideTheCompletionBlock
    }

    @Test(arguments: Moment.allCases) func aCancelAtThisMomentEndsItOnce(_ moment: Moment) async throws {
        let server = try ScriptedServer(
            routes: ["/silent": [.silence]],
            otherwise: [.respond(body: "hello")]
        )
        for _ in 0..<Rounds.count(300) {
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            let other = operation(server, "/silent")
            let operation = operation(server)
            let ending = Ending(operation)
            switch moment {
            case .beforeStart:
                operation.cancel()
                queue.addOperation(operation)
            case .whileQueued:
                queue.addOperation(other)
                queue.addOperation(operation)
                operation.cancel()
                other.cancel()
            case .whileStarting:
                race({ queue.addOperation(operation) }, { operation.cancel() })
            case .whilePausedInTheQueue:
                operation.pause()
                queue.addOperation(operation)
                operation.cancel()
            case .whilePaused:
                queue.addOperation(operation)
                operation.pause()
                operation.cancel()
            case .whileWaitingForASlot:
                queue.addOperation(operation)
                operation.pause()
                queue.addOperation(other)
                operation.resume()
                operation.cancel()
                other.cancel()
            case .insideTheCompletionBlock:
                operation.completionBlock = { [block = operation.completionBlock, unowned operation] in
                    operation.cancel()
                    block?()
                }
                queue.addOperation(operation)
            }
            let isSuccess = try await ending.isSuccess(on: callbacks)
            #expect(operation.isFinished && !operation.isPaused)
            switch moment {
            case .insideTheCompletionBlock: #expect(isSuccess && !operation.isCancelled)
            case .whileStarting, .whilePaused, .whileWaitingForASlot:
                #expect(isSuccess != operation.isCancelled)
            default: #expect(!isSuccess)
            }
            other.cancel()
        }
    }

    // MARK: - Pause and resume

    /// The queue decides to start it, and calls `start()` once, whatever happens between.
    @Test func aPauseAgainstTheStartOfTheQueue() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        for _ in 0..<Rounds.count(1000) {
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            let operation = operation(server)
            race({ queue.addOperation(operation) }, { operation.pause() })
            operation.resume()
            #expect(try await operation.value as? Data == Data("hello".utf8))
            #expect(queue.maxConcurrentOperationCount == 1)
        }
    }

    @Test func pauseAndResumeInATightLoop() async throws {
        let body = PatternBody(length: 4 << 20)
        let server = try ScriptedServer(
            serving: Representation(.pattern(body), entityTag: .strong("v1")),
            answers: [.currentRepresentation.throttled(to: 4 << 20)]
        )
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let operation = operation(server)
        queue.addOperation(operation)
        for _ in 0..<Rounds.count(1000) {
            operation.pause()
            operation.resume()
        }
        #expect(try await operation.value as? Data == body.data)
        #expect(queue.maxConcurrentOperationCount == 1)
    }

    @Test func resumingFromTwoThreadsMakesOneTransfer() async throws {
        let body = PatternBody(length: 1000)
        for _ in 0..<Rounds.count(300) {
            let gate = Gate()
            let representation = Representation(.pattern(body), entityTag: .strong("v1"))
            let server = try ScriptedServer([
                .representation(representation).held(after: .body(500), by: gate),
                .representation(representation),
            ])
            let operation = operation(server)
            operation.start()
            try await server.waitForRequests(count: 1)
            operation.pause()
            race({ operation.resume() }, { operation.resume() })
            #expect(try await operation.value as? Data == body.data)
            #expect(server.requests.count == 2)
            gate.open()
        }
    }

    @Test func everythingAtOnceFromManyThreads() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        for _ in 0..<Rounds.count(1000) {
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            let operation = operation(server)
            let ending = Ending(operation)
            race(
                { queue.addOperation(operation) },
                {
                    operation.pause()
                    operation.resume()
                },
                {
                    operation.resume()
                    operation.pause()
                },
                { operation.cancel() }
            )
            operation.resume()
            _ = try await ending.isSuccess(on: callbacks)
            #expect(queue.maxConcurrentOperationCount == 1)
        }
    }

    // MARK: - Callbacks and references

    @Test func aCompletionBlockMayEnqueueCancelAndPauseOthers() async throws {
        let server = try ScriptedServer(
            routes: ["/silent": [.silence]],
            otherwise: [.respond(body: "hello")]
        )
        for _ in 0..<Rounds.count(300) {
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 2
            let (first, next) = (operation(server), operation(server))
            let (cancelled, paused) = (operation(server, "/silent"), operation(server))
            let (endingOfCancelled, endingOfNext) = (Ending(cancelled), Ending(next))
            first.completionBlock = {
                paused.pause()
                cancelled.cancel()
                queue.addOperation(next)
                queue.addOperation(paused)
            }
            queue.addOperation(cancelled)
            queue.addOperation(first)
            #expect(try await !endingOfCancelled.isSuccess(on: callbacks))
            #expect(try await endingOfNext.isSuccess(on: callbacks))
            #expect(paused.isPaused && !paused.isFinished)
            paused.resume()
            #expect(try await paused.value as? Data == Data("hello".utf8))
        }
    }

    @Test func theLastReferenceMayGoWhileItRuns() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        let bodies = Recorder<Bool>()
        let rounds = Rounds.count(1000)
        for _ in 0..<rounds {
            let operation = operation(server)
            operation.setCompletion(
                success: { _, object in bodies.append(object as? Data == Data("hello".utf8)) },
                failure: { _, _ in bodies.append(false) }
            )
            operation.start()
        }
        #expect(try await bodies.wait(count: rounds, within: .seconds(60)).allSatisfy(\.self))
    }

    /// Foundation points from an operation to those that depend on it without retaining them. The address of one that
    /// is gone is soon that of another.
    @Test func dependentsMayBeCancelledAndReleasedEarly() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        for _ in 0..<Rounds.count(300) {
            let queue = OperationQueue()
            let first = operation(server)
            for _ in 0..<10 {
                let dependent = operation(server)
                dependent.addDependency(first)
                queue.addOperation(dependent)
                dependent.cancel()
                await #expect(throws: URLError.self) { try await dependent.value }
            }
            queue.addOperation(first)
            #expect(try await first.value as? Data == Data("hello".utf8))
        }
    }

    /// So does a barrier to what stands behind it.
    @Test func whatIsBehindABarrierMayBeCancelledAndReleasedEarly() async throws {
        let server = try ScriptedServer { _ in .respond(body: "hello") }
        for _ in 0..<Rounds.count(300) {
            let queue = OperationQueue()
            let (first, last) = (operation(server), operation(server))
            first.pause()
            queue.addOperation(first)
            queue.addBarrierBlock {}
            for _ in 0..<10 {
                let behind = operation(server)
                queue.addOperation(behind)
                behind.cancel()
                await #expect(throws: URLError.self) { try await behind.value }
            }
            queue.addOperation(last)
            first.resume()
            #expect(try await last.value as? Data == Data("hello".utf8))
        }
    }
}
