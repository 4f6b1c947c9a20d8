import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// AFNetworking 2's own tests of its request operation, replayed against httpbin by their behavior.
@Suite(.enabled(if: RealServers.httpbin != nil), .timeLimit(.minutes(1)))
struct AFNetworkingOperationTests {
    private let callbacks = DispatchQueue(label: "callbacks")

    private func operation(_ path: String) throws -> HTTPRequestOperation {
        let base = try #require(RealServers.httpbin)
        let operation = HTTPRequestOperation(request: URLRequest(url: base.appendingPathComponent(path)))
        operation.completionQueue = callbacks
        return operation
    }

    /// The calls of the closures of `setCompletion`.
    private final class Outcome: Sendable {
        let successes = Recorder<(any Sendable)?>()
        let failures = Recorder<any Error>()

        func listen(to operation: HTTPRequestOperation) {
            operation.setCompletion(
                success: { _, object in self.successes.append(object) },
                failure: { _, error in self.failures.append(error) }
            )
        }
    }

    @Test("HRO-01 pausing and resuming immediately stalls no other operation")
    func pauseAndResumeStallNobody() async throws {
        let first = try operation("delay/1")
        first.start()
        first.pause()
        first.resume()
        let second = try operation("delay/1")
        second.start()
        #expect(try await first.value != nil)
        #expect(try await second.value != nil)
    }

    @Test("HRO-02 the success closure receives the object")
    func success() async throws {
        let operation = try operation("get")
        let outcome = Outcome()
        outcome.listen(to: operation)
        operation.start()
        let object = try await outcome.successes.wait()
        #expect(object.first.flatMap { $0 } as? Data == operation.responseData)
        #expect(outcome.failures.elements.isEmpty)
    }

    @Test("HRO-03 a 204 is a success with empty data")
    func noContent() async throws {
        let operation = try operation("status/204")
        let outcome = Outcome()
        outcome.listen(to: operation)
        operation.start()
        let object = try await outcome.successes.wait()
        #expect(object.first.flatMap { $0 } as? Data == Data())
        #expect(operation.error == nil)
    }

    @Test("HRO-04, HRO-09 a 404 and a 500 are failures", arguments: [404, 500])
    func badStatus(_ status: Int) async throws {
        let operation = try operation("status/\(status)")
        let outcome = Outcome()
        outcome.listen(to: operation)
        operation.start()
        try await outcome.failures.wait()
        #expect(outcome.failures.elements.count == 1)
        #expect(operation.response?.statusCode == status)
        #expect(outcome.successes.elements.isEmpty)
    }

    @Test("HRO-05, HRO-06 a cancelled operation has an error, which its failure closure receives")
    func cancelWhileExecuting() async throws {
        let operation = try operation("delay/5")
        let outcome = Outcome()
        outcome.listen(to: operation)
        operation.start()
        #expect(operation.isExecuting)
        operation.cancel()
        let errors = try await outcome.failures.wait()
        #expect((errors.first as? URLError)?.code == .cancelled)
        #expect((operation.error as? URLError)?.code.rawValue == -999)
        #expect(operation.isFinished)
    }

    @Test("HRO-07, HRO-08 an operation cancelled before its start never runs, and fails")
    func cancelBeforeStart() async throws {
        let operation = try operation("delay/5")
        let outcome = Outcome()
        outcome.listen(to: operation)
        operation.cancel()
        // No queue has it: nothing else would end it.
        #expect(operation.isFinished)
        operation.start()
        #expect(operation.isCancelled && operation.isFinished && !operation.isExecuting)
        #expect((operation.error as? URLError)?.code == .cancelled)
        #expect((try await outcome.failures.wait().first as? URLError)?.code == .cancelled)
        #expect(operation.metrics == nil)
    }

    @Test("HRO-10, HRO-11 the redirect closure is called once for each redirect", arguments: [1, 5])
    func redirects(_ count: Int) async throws {
        let operation = try operation("redirect/\(count)")
        let redirects = Recorder<Int>()
        operation.setRedirect { _, request, redirect in
            redirects.append(redirect.statusCode)
            return request
        }
        operation.start()
        _ = try await operation.value
        #expect(redirects.elements == Array(repeating: 302, count: count))
        #expect(operation.response?.statusCode == 200)
    }

    @Test("HRO-12 an operation can be paused")
    func pause() async throws {
        let operation = try operation("delay/1")
        operation.start()
        operation.pause()
        #expect(operation.isPaused && !operation.isExecuting)
        operation.cancel()
        await #expect(throws: URLError.self) { try await operation.value }
    }

    @Test("HRO-13 a paused operation can be resumed")
    func resume() async throws {
        let operation = try operation("delay/1")
        operation.start()
        operation.pause()
        operation.resume()
        #expect(operation.isExecuting && !operation.isPaused)
        operation.cancel()
        await #expect(throws: URLError.self) { try await operation.value }
    }

    @Test("HRO-14 a paused operation can be completed")
    func complete() async throws {
        let operation = try operation("delay/1")
        let outcome = Outcome()
        outcome.listen(to: operation)
        operation.start()
        operation.pause()
        operation.resume()
        try await outcome.successes.wait()
        #expect(outcome.successes.elements.count == 1)
    }

    @Test("HRO-15, HRO-16 notifications of start and end carry the operation")
    func notifications() async throws {
        let operation = try operation("get")
        let events = Recorder<String>()
        let tokens = [Notification.Name.operationDidStart, .operationDidFinish].map { name in
            NotificationCenter.default.addObserver(forName: name, object: operation, queue: nil) {
                events.append($0.name.rawValue)
            }
        }
        operation.start()
        let names = try await events.wait(count: 2)
        #expect(names == [Notification.Name.operationDidStart, .operationDidFinish].map(\.rawValue))
        for token in tokens { NotificationCenter.default.removeObserver(token) }
    }

    @Test("HRO-17, O5-07 a batch completes after the callbacks of all its members")
    func batch() async throws {
        let events = Recorder<String>()
        let members = try ["get", "delay/1"].map { path in
            let operation = try operation(path)
            operation.setCompletion(success: { _, _ in events.append("member") }, failure: nil)
            return operation
        }
        let batch = ConnectionOperation.batch(
            of: members,
            completionQueue: callbacks,
            completion: { _ in events.append("batch") }
        )
        let queue = OperationQueue()
        for operation in batch { queue.addOperation(operation) }
        #expect(try await events.wait(count: 3) == ["member", "member", "batch"])
    }

    @Test("O5-22 a batch's operations come in the order of its members")
    func batchOrder() throws {
        let members = try ["get", "delay/1", "status/204"].map { try operation($0) }
        let batch = ConnectionOperation.batch(of: members, completionQueue: callbacks)
        #expect(batch.dropLast().elementsEqual(members, by: ===))
        // Ended, and not only dropped: a batch keeps its members until it completes.
        for operation in members {
            operation.cancel()
            operation.start()
        }
    }

    /// No room, and an error to say why.
    private final class FullStream: OutputStream {
        static let error = NSError(domain: "Full", code: 7)
        override var hasSpaceAvailable: Bool { false }
        override var streamError: (any Error)? { Self.error }
        override var streamStatus: Stream.Status { .open }
        override func open() {}
        override func close() {}
        override func write(_ buffer: UnsafePointer<UInt8>, maxLength: Int) -> Int { -1 }
    }

    @Test("HRO-18 an error of the output stream is the operation's error")
    func streamFailure() async throws {
        let operation = try operation("get")
        operation.outputStream = FullStream(toMemory: ())
        let outcome = Outcome()
        outcome.listen(to: operation)
        operation.start()
        #expect(try await outcome.failures.wait().first as NSError? == FullStream.error)
        #expect(operation.isFinished)
    }
}
