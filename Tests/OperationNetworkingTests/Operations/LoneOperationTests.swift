import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// The ends of an operation that is never put into a queue: each reaches all that waits for it.
@Suite(.timeLimit(.minutes(1)))
struct LoneOperationTests {
    enum End: CaseIterable {
        case cancelled
        case pausedAndCancelled
        case resumedAndCancelled
        case cancelledTwice
        case cancelledByItsBatch
        case pausedAndCancelledByItsBatch
        case cancelledByItsProgress
        case cancelledAndStarted
        case started
        case startedAndCancelled

        func bring(_ operation: HTTPRequestOperation, of batch: OperationBatch<HTTPRequestOperation>) {
            switch self {
            case .cancelled:
                operation.cancel()
            case .pausedAndCancelled:
                operation.pause()
                operation.cancel()
            case .resumedAndCancelled:
                operation.pause()
                operation.resume()
                operation.cancel()
            case .cancelledTwice:
                operation.cancel()
                operation.cancel()
            case .cancelledByItsBatch:
                batch.cancel()
            case .pausedAndCancelledByItsBatch:
                batch.pause()
                batch.cancel()
            case .cancelledByItsProgress:
                operation.downloadProgress.pause()
                operation.downloadProgress.cancel()
            case .cancelledAndStarted:
                operation.cancel()
                operation.start()
            case .started:
                operation.start()
            case .startedAndCancelled:
                operation.start()
                operation.cancel()
            }
        }
    }

    @Test(arguments: End.allCases) func everyWaiterContinues(_ end: End) async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let callbacks = DispatchQueue(label: "callbacks")
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = callbacks
        let events = Recorder<String>()
        let begun = Recorder<Bool>()
        let pieces = operation.bodyPieces()
        operation.setCompletion(
            success: { _, _ in events.append("closure") },
            failure: { _, _ in events.append("closure") }
        )
        operation.completionBlock = { events.append("block") }
        let batch = OperationBatch(
            [operation],
            completionQueue: callbacks,
            completion: { _ in events.append("batch") }
        )
        Thread.detachNewThread {
            begun.append(true)
            operation.waitUntilFinished()
            events.append("waited")
        }
        try await begun.wait()
        Task {
            _ = try? await operation.value
            events.append("value")
        }
        Task {
            for await _ in operation.downloadUpdates {}
            events.append("updates")
        }
        Task {
            do { for try await _ in pieces {} } catch {}
            events.append("pieces")
        }
        Task {
            _ = await batch.results()
            events.append("results")
        }
        end.bring(operation, of: batch)

        let all = ["batch", "block", "closure", "pieces", "results", "updates", "value", "waited"]
        #expect(try await events.wait(count: all.count).sorted() == all)
        #expect(operation.isFinished && operation.isCancelled == (end != .started))
        #expect(operation.failure?.isCancelled == (end == .started ? nil : true))
    }

    /// What code that waited schedules on the main queue comes after the notification, named or not.
    @Test(arguments: [nil, DispatchQueue.main]) func theEndIsAnnouncedBeforeWhatFollowsAWait(
        queue: DispatchQueue?
    ) async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = queue
        let events = Recorder<String>()
        let token = NotificationCenter.default.addObserver(
            forName: .operationDidFinish,
            object: operation,
            queue: nil
        ) { _ in events.append("finished") }
        defer { NotificationCenter.default.removeObserver(token) }
        operation.start()
        await onDispatchThread { operation.waitUntilFinished() }
        DispatchQueue.main.async { events.append("after") }
        #expect(try await events.wait(count: 2) == ["finished", "after"])
    }

    /// A wait that has begun is not one of Foundation's, which is not notified of such an end.
    @Test func waitsThatHaveBegunReturn() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        let ends = Recorder<Bool>()
        for round in 1...100 {
            let operation = ConnectionOperation(request: URLRequest(url: url))
            let begun = Recorder<Bool>()
            for _ in 0..<2 {
                Thread.detachNewThread {
                    begun.append(true)
                    operation.waitUntilFinished()
                    ends.append(operation.isFinished)
                }
            }
            try await begun.wait(count: 2)
            operation.cancel()
            #expect(try await ends.wait(count: 2 * round).allSatisfy { $0 })
        }
    }

    @Test func aWaitForOneInAQueueReturnsAsEver() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let queue = OperationQueue()
        let sizes = await onDispatchThread {
            let operations = (0..<5).map { _ in
                HTTPRequestOperation(request: URLRequest(url: server.url))
            }
            queue.addOperations(operations, waitUntilFinished: true)
            return operations.map { operation in
                operation.waitUntilFinished()
                return operation.responseData?.count
            }
        }
        #expect(sizes == [4, 4, 4, 4, 4])
    }

    /// The queue that takes it later knows whether it is ready.
    @Test func onePausedAloneIsNotStartedByItsQueueUntilItIsResumed() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let queue = OperationQueue()
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.pause()
        queue.addOperation(operation)
        await withCheckedContinuation { (over: CheckedContinuation<Void, Never>) in
            queue.addOperation { over.resume() }
        }
        #expect(operation.isPaused && server.requests.isEmpty)
        operation.resume()
        #expect(try await operation.value as? Data == Data("four".utf8))
    }

    @Test func aRestoredOneThatHadFinishedIsDoneInAQueue() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        let cancelled = HTTPRequestOperation(request: URLRequest(url: url))
        cancelled.cancel()
        let operation = HTTPRequestOperation(archive: try #require(cancelled.archive))
        let queue = OperationQueue()
        let isFinished = await onDispatchThread {
            operation.waitUntilFinished()
            queue.addOperations([operation], waitUntilFinished: true)
            queue.waitUntilAllOperationsAreFinished()
            return operation.isFinished
        }
        #expect(isFinished)
    }
}
